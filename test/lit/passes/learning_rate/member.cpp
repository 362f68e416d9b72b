// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: opt(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(lr_)))
// CHECK: double lr_ = 0.1;
struct Trainer {
  Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(lr_)) {}
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  double lr_ = 0.1;
  Net net;
  hvd::optim::SGD opt;
};

int main() { Trainer().run(); }
