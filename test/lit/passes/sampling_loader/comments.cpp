// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: // All of it.
// CHECK-NEXT: for (auto& batch : hvd::steps(*loader) /* shuffled */) {  // an epoch
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // All of it.
  for (auto& batch : *loader /* shuffled */) {  // an epoch
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
