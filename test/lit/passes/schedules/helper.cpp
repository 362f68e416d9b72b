// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: double rate(int epoch) {
// CHECK-NEXT: return 0.1 / (1 + epoch);
double rate(int epoch) {
  return 0.1 / (1 + epoch);
}

// CHECK: opt.set_lr(hvd::scaled_lr(rate(epoch)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(rate(epoch));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
