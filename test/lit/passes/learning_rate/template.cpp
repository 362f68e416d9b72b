// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: Optimizer opt(net->parameters(), lr);
template <class Optimizer, class T>
void run(T lr) {
  Net net;
  Optimizer opt(net->parameters(), lr);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

// CHECK: run<hvd::optim::SGD>(hvd::scaled_lr(0.1));
int main() {
  run<hvd::optim::SGD>(0.1);
}
