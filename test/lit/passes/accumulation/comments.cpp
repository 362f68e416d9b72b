// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: if (++n % 2 == 0) {  // a full step
// CHECK-NEXT: // now
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();  // then
// CHECK-NEXT: opt.zero_grad();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();
    if (++n % 2 == 0) {  // a full step
      // now
      opt.step();  // then
      opt.zero_grad();
    }
  }
}
