// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Samples of a batch that the standard library goes through, where more is done than collecting all of them.

//--- program.h
#include <torch/torch.h>

#include <algorithm>
#include <iterator>
#include <vector>

struct Points : torch::data::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::rand({44, 5}), y = torch::rand({44, 1});
};

inline auto make_loader() { return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points(), torch::data::DataLoaderOptions(6)); }

//--- without_the_first.cpp
// form: std::transform over some of the samples of a batch
#include "program.h"

int main() {
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& points : *loader) {
    std::vector<torch::Tensor> inputs;
    std::transform(points.begin() + 1, points.end(), std::back_inserter(inputs), [](const auto& point) { return point.data; });  // refused: HVD3012
    auto loss = net(torch::stack(inputs)).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- kept_beside_earlier.cpp
// form: std::transform that adds the samples of a batch to those of earlier ones
#include "program.h"

int main() {
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  std::vector<torch::Tensor> inputs;
  for (auto& points : *loader) {
    std::transform(points.begin(), points.end(), std::back_inserter(inputs), [](const auto& point) { return point.data; });
    auto loss = net(torch::stack(inputs)).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
