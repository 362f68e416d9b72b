// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Loops that go on until the clock or a signal says so: what they do is training, also where nothing but the framework is called, and no pause.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <chrono>
#include <csignal>

inline auto make_loader() {
  auto set = torch::data::datasets::TensorDataset(torch::randn({40, 5})).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  return torch::data::make_data_loader(std::move(set), 8);
}

//--- until_the_time_is_over.cpp
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  // CHECK: while (hvd::agree(std::chrono::steady_clock::now() < limit))
  while (std::chrono::steady_clock::now() < limit)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      net(batch.data).pow(2).mean().backward();
      optimizer.step();
    }
}

//--- until_a_signal.cpp
#include "program.h"

static volatile std::sig_atomic_t stop = 0;

int main() {
  std::signal(SIGINT, [](int) { stop = 1; });
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  // CHECK: for (int epoch = 0; hvd::agree(epoch < 2 && !stop); ++epoch)
  // CHECK-NEXT: for (auto& batch : hvd::steps(*loader)) {
  // CHECK-NEXT: if (hvd::agree(stop)) break;
  for (int epoch = 0; epoch < 2 && !stop; ++epoch)
    for (auto& batch : *loader) {
      if (stop) break;
      optimizer.zero_grad();
      net(batch.data).pow(2).mean().backward();
      optimizer.step();
    }
}
