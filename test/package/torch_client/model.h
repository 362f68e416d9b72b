// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <iostream>

struct Net : torch::nn::Module {
  Net() : hidden(register_module("hidden", torch::nn::Linear(4, 8))), head(register_module("head", torch::nn::Linear(8, 1))) {}
  torch::Tensor forward(torch::Tensor x) { return head(torch::tanh(hidden(x))); }
  torch::nn::Linear hidden, head;
};

inline void print_sums(const Net& net) {
  for (const auto& p : net.named_parameters()) std::cout << p.key() << " " << p.value().sum().item<double>() << std::endl;
}
