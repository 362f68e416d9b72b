// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hvd/hvd.hpp>

struct NetImpl : hvd::nn::Module {
  NetImpl() : hidden(register_module("hidden", hvd::nn::Linear(5, 12))), out(register_module("out", hvd::nn::Linear(12, 3))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(hidden(x).relu()); }
  hvd::nn::Linear hidden, out;
};
HVD_MODULE(Net);

struct Settings {
  int64_t batch = 8;
  double rate = 0.1;
};

double fit(Net& net, const Settings& settings);
double judge(Net& net);
