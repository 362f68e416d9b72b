// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::SGD opt(net->parameters(), /* rate */ hvd::scaled_lr(0.1));  // plain
// CHECK-NEXT: hvd::broadcast(net, opt);
// CHECK: // The data.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), /* rate */ 0.1);  // plain
  // The data.
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
