// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: // Another run, other numbers.
// CHECK-NEXT: hvd::manual_seed(/* now */ hvd::shared_seed(std::time(nullptr)));  // seconds
int main() {
  // Another run, other numbers.
  hvd::manual_seed(/* now */ std::time(nullptr));  // seconds
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
