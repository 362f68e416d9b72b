// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/hvd.hpp>

struct NetImpl : hvd::nn::Module {
  NetImpl(int64_t in, int64_t out) : hidden(register_module("hidden", hvd::nn::Linear(in, 9))), head(register_module("head", hvd::nn::Linear(9, out))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return head(hidden(x).relu()); }
  hvd::nn::Linear hidden, head;
};
HVD_MODULE(Net);
