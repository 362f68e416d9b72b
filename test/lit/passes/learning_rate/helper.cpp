// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


void halve(hvd::optim::Optimizer& opt) {
  opt.set_lr(opt.lr() * 0.5);
}

// CHECK: void set(hvd::optim::Optimizer& opt, double lr) {
// CHECK-NEXT: opt.set_lr(lr);
void set(hvd::optim::Optimizer& opt, double lr) {
  opt.set_lr(lr);
}

// CHECK: set(opt, hvd::scaled_lr(0.01));
// CHECK-NEXT: halve(opt);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  set(opt, 0.01);
  halve(opt);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
