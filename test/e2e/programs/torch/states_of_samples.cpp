// SPDX-License-Identifier: Apache-2.0
// e2e: name=kept_samples; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=chunks_in_memory; cxx=-DFORM=1; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=rows_loaded_once; cxx=-DFORM=2; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=collated_by_offsets; cxx=-DFORM=3; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=differences_in_a_sample; cxx=-DFORM=4; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: a data set that keeps what it made of each sample
// form: a data set that has one chunk of its samples in memory
// form: a collation that copies samples to their places in one tensor
// What a data set remembers, and a collation counts, without making samples depend on one another.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;
using Example = torch::data::Example<>;

struct Rows : torch::data::datasets::Dataset<Rows> {
  explicit Rows(Tensor x) : x_(std::move(x)), kept_(static_cast<size_t>(x_.size(0))) {}
  Example get(size_t i) override {
    const int64_t at = static_cast<int64_t>(i);
#if FORM == 0
    Tensor& row = kept_[i];
    if (!row.defined()) row = torch::tanh(x_[at]) * 2.0;
#elif FORM == 1
    if (at / 10 != chunk_) {
      rows_ = x_.slice(0, at / 10 * 10, std::min<int64_t>(x_.size(0), at / 10 * 10 + 10)).clone();
      chunk_ = at / 10;
    }
    Tensor row = rows_[at % 10];
#elif FORM == 2
    if (list_.empty())
      for (int64_t k = 0; k < x_.size(0); ++k) list_.push_back(x_[k] * 0.5);
    Tensor row = list_[i];
#else
    Tensor row = x_[at];
#endif
    return {row, torch::tensor(at % 3)};
  }
  torch::optional<size_t> size() const override { return kept_.size(); }

 private:
  Tensor x_;
  std::vector<Tensor> kept_;
#if FORM == 1
  Tensor rows_;
  int64_t chunk_ = -1;
#elif FORM == 2
  std::vector<Tensor> list_;
#endif
};

#if FORM == 3
struct Together : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    int64_t width = 0;
    for (const auto& e : examples)
      if (e.data.size(0) > width) width = e.data.size(0);
    Tensor data = torch::zeros({static_cast<int64_t>(examples.size()), width}, torch::kDouble);
    std::vector<int64_t> labels;
    int64_t place = 0;
    for (const auto& e : examples) {
      data[place].slice(0, 0, e.data.size(0)).copy_(e.data);
      labels.push_back(e.target.item<int64_t>());
      ++place;
    }
    return {data, torch::tensor(labels)};
  }
};
#elif FORM == 4
struct Together : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> rows, labels;
    for (const auto& e : examples) {
      std::vector<double> values(e.data.data_ptr<double>(), e.data.data_ptr<double>() + e.data.size(0)), steps;
      double before = 0;
      for (double v : values) {
        steps.push_back(v - before);
        before = v;
      }
      rows.push_back(torch::tensor(steps, torch::kDouble));
      labels.push_back(e.target);
    }
    return {torch::stack(rows), torch::stack(labels)};
  }
};
#else
using Together = torch::data::transforms::Stack<>;
#endif

int main(int argc, char** argv) {
  torch::manual_seed(4);
  const size_t batch = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows(torch::randn({43, 3}, torch::kDouble)).map(Together()), batch);
  torch::nn::Linear net(3, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    int steps = 0;
    for (auto& b : *loader) {
      auto loss = torch::nn::functional::cross_entropy(net->forward(b.data), b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      ++steps;
    }
    std::printf("%d %.9f\n", epoch, total / steps);
  }
  torch::save(net, "net.pt");
}
