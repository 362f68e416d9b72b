// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: Optimizer opt(net->parameters(), hvd::scaled_lr(0.1));
// CHECK-NEXT: hvd::broadcast(net, opt);
template <class Model, class Optimizer>
void run() {
  Model net;
  Optimizer opt(net->parameters(), 0.1);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() { run<Net, hvd::optim::SGD>(); }
