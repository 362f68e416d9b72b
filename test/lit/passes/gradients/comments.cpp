// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: // Backward.
// CHECK-NEXT: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();  // slow
// CHECK-NEXT: // Update.
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();  // in place
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    // Backward.
    loss_of(net, batch).backward();  // slow
    // Update.
    opt.step();  // in place
  }
}
