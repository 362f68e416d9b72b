// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: hvd::optim::SGD opt(net->parameters(), /* fast */ hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));  // plain
// CHECK-NEXT: hvd::sync_batchnorm(net);
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), /* fast */ hvd::optim::SGDOptions(0.1));  // plain
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
