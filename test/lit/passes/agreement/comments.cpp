// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: // Late?
// CHECK-NEXT: if (/* now */ hvd::agree(std::time(nullptr) > 60)) break;  // yes
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    // Late?
    if (/* now */ std::time(nullptr) > 60) break;  // yes
  }
}
