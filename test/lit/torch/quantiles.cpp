// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Quantiles of a batch are those of all its rows; of each sample's own numbers they are its own.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <cstdio>
#include <optional>

namespace F = torch::nn::functional;

inline auto make_loader() {
  auto set = torch::data::datasets::TensorDataset(torch::randn({40, 5})).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  return torch::data::make_data_loader(std::move(set), 8);
}

//--- shown.cpp
#include "program.h"

// CHECK: const auto hvd_shown = hvd::gather(shown);
// CHECK-NEXT: torch::quantile(hvd_shown, 0.9).item<double>()
// CHECK-NEXT: also(shown)
// CHECK-NEXT: hvd_shown.nanmedian().item<float>()
// CHECK-NEXT: hvd::batch_mean(net(batch.data).quantile(0.5, 1).mean().item<float>())
int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto losses = net(batch.data).pow(2).sum(1);
    optimizer.zero_grad();
    losses.mean().backward();
    optimizer.step();
    auto shown = losses.detach();
    std::printf("%f\n", torch::quantile(shown, 0.9).item<double>());
    const std::optional<torch::Tensor> also(shown);  // takes a reference, and copies the handle
    std::printf("%f\n", shown.nanmedian().item<float>());
    std::printf("%f\n", net(batch.data).quantile(0.5, 1).mean().item<float>());
  }
}

//--- trained.cpp
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto loss = net(batch.data).pow(2).sum(1).quantile(0.9);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- one_for_each.cpp
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto losses = net(batch.data).pow(2).sum(1);
    optimizer.zero_grad();
    losses.backward(torch::ones_like(losses));  // refused: HVD3010
    optimizer.step();
  }
}
