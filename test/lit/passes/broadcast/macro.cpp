// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define WITH(...) __VA_ARGS__

// CHECK: hvd::optim::SGD opt(WITH(net->parameters()), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
// CHECK-NEXT: hvd::broadcast(net, opt);
int main() {
  Net net;
  hvd::optim::SGD opt(WITH(net->parameters()), hvd::optim::SGDOptions(0.1));
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


#define MAKE_OPTIMIZER(rate) hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate))

// CHECK: MAKE_OPTIMIZER(hvd::scaled_lr(0.1));
// CHECK-NEXT: hvd::broadcast(net, opt);
int main() {
  Net net;
  MAKE_OPTIMIZER(0.1);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- block.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define MAKE_ALL Net net; hvd::optim::SGD opt(net->parameters(), rate); net->train()

int main() {
  const double rate = 0.1;
  MAKE_ALL;  // refused: HVD3001
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
