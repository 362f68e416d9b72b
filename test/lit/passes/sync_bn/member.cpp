// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1))) {
// CHECK-NEXT: hvd::sync_batchnorm(net);
// CHECK-NEXT: hvd::broadcast(net, opt);
struct Trainer {
  Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(0.1)) {}
  void step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  NormNet net;
  hvd::optim::SGD opt;
};

int main() {
  Trainer trainer;
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) trainer.step(batch);
}
