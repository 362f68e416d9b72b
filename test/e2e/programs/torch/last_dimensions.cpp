// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Losses of sequences whose dimensions are counted from the end, stacked and moved; the last batch is smaller.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace F = torch::nn::functional;

struct Sequences : torch::data::datasets::Dataset<Sequences> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 29; }
  torch::Tensor x = torch::sin(torch::arange(29 * 12, torch::kDouble) * 0.37).view({29, 4, 3});
  torch::Tensor y = (torch::arange(29 * 4) * 5).remainder(7).remainder(3).view({29, 4});
};

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(3);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::nn::Sequential net(torch::nn::Linear(3, 5), torch::nn::Tanh(), torch::nn::Linear(5, 3));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Sequences().map(torch::data::transforms::Stack<>()), batch_size);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0, largest = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor out = net->forward(batch.data);
// form: losses of each sample stacked along the last dimension
      const torch::Tensor first = F::cross_entropy(out.select(1, 0), batch.target.select(1, 0), F::CrossEntropyFuncOptions().reduction(torch::kNone));
      const torch::Tensor last = F::cross_entropy(out.select(1, 3), batch.target.select(1, 3), F::CrossEntropyFuncOptions().reduction(torch::kNone));
      torch::Tensor loss = torch::stack({first, last}, -1).sum(-1).mean();
// form: means along the last dimension of a tensor that a transposition shows to have three
      loss = loss + F::cross_entropy(out.transpose(1, 2), batch.target) + 0.1 * out.pow(2).mean(-1).sum(-1).mean();
// form: a dimension in a variable that nothing changes
      int64_t of_classes = 2;
      loss = loss + 0.1 * torch::log_softmax(out, of_classes).pow(2).mean();
// form: samples moved to the second dimension by movedim
      loss = loss + 0.2 * out.movedim(0, 1).select(0, 2).pow(2).mean();
// form: means of masked columns, divided column by column
      const torch::Tensor known = (batch.data.select(1, 1) > -0.5).to(torch::kDouble);
      loss = loss + 0.1 * ((out.select(1, 1).pow(2) * known).sum(0) / known.sum(0)).mean();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
// form: the largest of the means of columns, to be shown
      total += (out.detach().select(1, 2) - 0.5).abs().mean(0).max().item<double>();
      largest = std::max(largest, (out.argmax(-1) == batch.target).to(torch::kDouble).sum(-1).max().item<double>());
    }
    std::printf("%d %.9f %.1f\n", epoch, total, largest);
  }
}
