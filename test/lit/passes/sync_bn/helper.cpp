// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: auto opt = std::make_unique<hvd::optim::SGD>(model->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
// CHECK-NEXT: hvd::sync_batchnorm(model);
// CHECK-NEXT: hvd::broadcast(model, opt);
std::unique_ptr<hvd::optim::Optimizer> optimizer_of(NormNet& model) {
  auto opt = std::make_unique<hvd::optim::SGD>(model->parameters(), hvd::optim::SGDOptions(0.1));
  return opt;
}

int main() {
  NormNet net;
  auto opt = optimizer_of(net);
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    loss_of(net, batch).backward();
    opt->step();
  }
}
