// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <algorithm>

#include "parts.h"


void halve(hvd::optim::Optimizer& opt) {
  opt.set_lr(opt.lr() * 0.5);
}

// CHECK: void set(hvd::optim::Optimizer& opt, double lr) {
// CHECK-NEXT: opt.set_lr(lr);
void set(hvd::optim::Optimizer& opt, double lr) {
  opt.set_lr(lr);
}

// CHECK: return std::max(rate * 0.5, hvd::scaled_lr(0.001));
double lowered(double rate) { return std::max(rate * 0.5, 0.001); }

struct Config {
  double lr = 0.1;
  // CHECK: return epoch > 2 ? hvd::scaled_lr(lr) * 0.1 : hvd::scaled_lr(lr);
  double at(int epoch) const { return epoch > 2 ? lr * 0.1 : lr; }
};

// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(config.lr))
// CHECK: set(opt, hvd::scaled_lr(0.01));
// CHECK-NEXT: halve(opt);
// CHECK: opt.set_lr(config.at(3));
// CHECK-NEXT: opt.set_lr(lowered(opt.lr()));
int main() {
  const Config config;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(config.lr));
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
  opt.set_lr(config.at(3));
  opt.set_lr(lowered(opt.lr()));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
