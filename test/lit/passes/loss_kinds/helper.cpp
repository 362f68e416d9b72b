// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: return hvd::nn::functional::cross_entropy(out, target, hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
hvd::Tensor total(const hvd::Tensor& out, const hvd::Tensor& target) {
  return hvd::nn::functional::cross_entropy(out, target, hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
}

// CHECK: hvd::weighted(loss, hvd::LossKind::sum).backward();
void back(const hvd::Tensor& loss) {
  loss.backward();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    back(total(net(batch.data), batch.target));
    opt.step();
  }
}
