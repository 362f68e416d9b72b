// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- constant.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define RATE 0.1

// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(RATE))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(RATE));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define OPTIONS hvd::optim::SGDOptions(0.1)

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), OPTIONS);  // refused: HVD3001
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
