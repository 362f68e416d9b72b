// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: samples of a batch collected by std::transform
// The loader stacks nothing; what it gives is gone through by the standard library.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

struct Points : torch::data::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::sin(torch::arange(44 * 5, torch::kFloat64).view({44, 5})), y = torch::arange(44).remainder(3);
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  torch::nn::Linear net(5, 3);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points(), torch::data::DataLoaderOptions(batch));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<torch::Tensor> losses;
    for (auto& points : *loader) {
      std::vector<torch::Tensor> inputs, labels;
      std::transform(points.begin(), points.end(), std::back_inserter(inputs), [](const auto& point) { return point.data; });
      std::transform(points.cbegin(), points.cend(), std::back_inserter(labels), [](const torch::data::Example<>& point) { return point.target; });
      const auto x = torch::stack(inputs) * 0.5, y = torch::stack(labels);
      const auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      losses.push_back(loss.detach());
    }
    std::printf("epoch %d: %.12f\n", epoch, torch::stack(losses).mean().item<double>());
  }
  torch::save(net, "net.pt");
}
