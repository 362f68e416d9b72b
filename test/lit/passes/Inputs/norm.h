// SPDX-License-Identifier: Apache-2.0
// A model with batch norm and its data: the author's second file, in which nothing must change.
#pragma once

#include <hvd/hvd.hpp>

struct NormNetImpl : hvd::nn::Module {
  NormNetImpl()
      : conv(register_module("conv", hvd::nn::Conv2d(hvd::nn::Conv2dOptions(1, 4, 3).padding(1)))),
        norm(register_module("norm", hvd::nn::BatchNorm2d(4))), out(register_module("out", hvd::nn::Linear(4 * 7 * 7, 3))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(norm(conv(x)).relu().flatten(1)); }
  hvd::nn::Conv2d conv;
  hvd::nn::BatchNorm2d norm;
  hvd::nn::Linear out;
};
HVD_MODULE(NormNet);

inline hvd::data::datasets::TensorDataset images(int64_t n = 40) { return {hvd::randn({n, 1, 7, 7}), hvd::randint(0, 3, {n})}; }

inline hvd::Tensor loss_of(NormNet& net, const hvd::data::Batch& batch) {
  return hvd::nn::functional::cross_entropy(net(batch.data), batch.target);
}
