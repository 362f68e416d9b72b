// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: Optimizer opt(model->parameters(), hvd::scaled_lr(0.1));
// CHECK-NEXT: hvd::sync_batchnorm(model);
template <class Optimizer, class Model>
void train(Model& model) {
  Optimizer opt(model->parameters(), 0.1);
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(model, batch).backward();
    opt.step();
  }
}

int main() {
  NormNet net;
  train<hvd::optim::SGD>(net);
}
