// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: // Not too far.
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(net->parameters(), /* at most */ 1.0);  // in place
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    // Not too far.
    hvd::nn::utils::clip_grad_norm_(net->parameters(), /* at most */ 1.0);  // in place
    opt.step();
  }
}
