// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: auto opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
// CHECK-NEXT: hvd::broadcast(net, opt);
std::unique_ptr<hvd::optim::Optimizer> optimizer_of(Net& net) {
  auto opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(0.1));
  return opt;
}

int main() {
  Net net;
  auto opt = optimizer_of(net);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    loss_of(net, batch).backward();
    opt->step();
  }
}
