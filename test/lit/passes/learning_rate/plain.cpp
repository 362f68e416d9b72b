// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- constructor.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(0.1)).momentum(0.9)
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- variable.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: double lr = hvd::scaled_lr(0.1);
// CHECK: opt.set_lr(lr * 0.5);
// CHECK: opt.set_lr(hvd::scaled_lr(0.01));
// CHECK: opt.set_lr(opt.lr() * 0.9);
int main() {
  double lr = 0.1;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  opt.set_lr(lr * 0.5);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  opt.set_lr(0.01);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  opt.set_lr(opt.lr() * 0.9);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- adaptive.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::AdamOptions(hvd::scaled_lr(0.001, hvd::LrRule::sqrt)).weight_decay(1e-4)
int main() {
  Net net;
  hvd::optim::Adam opt(net->parameters(), hvd::optim::AdamOptions(0.001).weight_decay(1e-4));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- summed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(0.1, hvd::LrRule::none))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).pow(2).sum().backward();
    opt.step();
  }
}
