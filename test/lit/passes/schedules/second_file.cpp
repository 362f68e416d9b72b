// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- decay.h
#pragma once
inline double decayed(double lr, int epoch) { return epoch < 2 ? lr : lr * 0.1; }
//--- decay.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "decay.h"

// CHECK: const double lr = hvd::scaled_lr(0.1);
// CHECK: opt.set_lr(decayed(lr, epoch));
int main() {
  const double lr = 0.1;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(decayed(lr, epoch));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
