// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define AT_EPOCH(n, what) \
  if (epoch == (n)) what

// CHECK: AT_EPOCH(1, opt.set_lr(hvd::scaled_lr(0.01)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    AT_EPOCH(1, opt.set_lr(0.01));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define DROP opt.set_lr(0.01)

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch == 1) DROP;  // refused: HVD3001
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
