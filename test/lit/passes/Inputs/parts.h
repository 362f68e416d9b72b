// SPDX-License-Identifier: Apache-2.0
// A model and data: the author's second file, in which nothing must change.
#pragma once

#include <hvd/hvd.hpp>

struct NetImpl : hvd::nn::Module {
  NetImpl() : hidden(register_module("hidden", hvd::nn::Linear(8, 16))), out(register_module("out", hvd::nn::Linear(16, 3))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(hidden(x).relu()); }
  hvd::nn::Linear hidden, out;
};
HVD_MODULE(Net);

inline hvd::data::datasets::TensorDataset samples(int64_t n = 40) { return {hvd::randn({n, 8}), hvd::randint(0, 3, {n})}; }

inline hvd::Tensor loss_of(Net& net, const hvd::data::Batch& batch) {
  return hvd::nn::functional::cross_entropy(net(batch.data), batch.target);
}
