// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- variable.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
// CHECK-NEXT: hvd::broadcast(net, opt);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- pointer.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: opt = std::make_unique<hvd::optim::Adam>(net->parameters(),
// CHECK: hvd::broadcast(net, opt);
int main() {
  Net net;
  std::unique_ptr<hvd::optim::Optimizer> opt;
  opt = std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    loss_of(net, batch).backward();
    opt->step();
  }
}
//--- two.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::broadcast(net, opt);
// CHECK: hvd::broadcast(other, second);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  Net other;
  hvd::optim::SGD second(other->parameters(), 0.2);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    second.zero_grad();
    loss_of(net, batch).backward();
    loss_of(other, batch).backward();
    opt.step();
    second.step();
  }
}
