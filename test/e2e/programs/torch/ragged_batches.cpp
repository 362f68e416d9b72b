// SPDX-License-Identifier: Apache-2.0
// e2e: name=even_batches; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=ragged_batches; args=8 0.05; modes=global; ranks=1,2; cxx=-DRAGGED; timeout=90; expect=ends; says=rank 1 has 4 samples of a batch, and tensor 1 of that batch has \d+ rows
// Samples of several rows each, which a collation lays one behind another in the framework's own batch: equally many for each sample, or not. In the
// second case the ranks' means over rows do not add up, which the program must say rather than train on.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Stroke {
  torch::Tensor points, pressure;
};

struct Strokes : torch::data::datasets::Dataset<Strokes, Stroke> {
  explicit Strokes(const torch::Tensor& rows) : rows_(rows) {}
  Stroke get(size_t i) override {
#ifdef RAGGED
    const auto count = static_cast<int64_t>(1 + i * 7 % 4);
#else
    const int64_t count = 2;
#endif
    const torch::Tensor points = rows_[static_cast<int64_t>(i)] * torch::arange(1, count + 1, torch::kDouble).unsqueeze(1);
    return {points, points.sum(1, true).tanh()};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_;
};

struct Join : torch::data::transforms::Collation<torch::data::Example<>, std::vector<Stroke>> {
  torch::data::Example<> apply_batch(std::vector<Stroke> strokes) override {
    std::vector<torch::Tensor> points, pressure;
    for (const Stroke& stroke : strokes) {
      points.push_back(stroke.points);
      pressure.push_back(stroke.pressure);
    }
    return {torch::cat(points), torch::cat(pressure)};
  }
};

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor rows = torch::sin(torch::arange(45 * 6, torch::kDouble) * 0.9).view({45, 6});
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Strokes(rows).map(Join()), static_cast<size_t>(size));
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t seen = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
      seen += batch.data.size(0);
    }
    std::printf("%.9f %ld\n", sum / static_cast<double>(seen), static_cast<long>(seen));
  }
  torch::save(net, "net.pt");
}
