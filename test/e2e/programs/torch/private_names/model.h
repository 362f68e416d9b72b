// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    hidden = register_module("hidden", torch::nn::Linear(5, 12));
    out = register_module("out", torch::nn::Linear(12, 3));
    to(torch::kDouble);
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(hidden(x))); }
  torch::nn::Linear hidden{nullptr}, out{nullptr};
};
TORCH_MODULE(Net);

struct Settings {
  int64_t batch = 8;
  double rate = 0.1;
};

double fit(Net& net, const Settings& settings);
double judge(Net& net);
