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
//--- two_losses.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A loss that is summed grows with the batch by itself, a mean does not: each optimizer has the rule of the losses that it follows.
// CHECK: const double lr = 0.1;
// CHECK: hvd::optim::SGD opt(net->parameters(), hvd::scaled_lr(lr));
// CHECK: hvd::optim::SGD second(other->parameters(), hvd::scaled_lr(lr, hvd::LrRule::none));
int main() {
  const double lr = 0.1;
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), lr);
  hvd::optim::SGD second(other->parameters(), lr);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  for (auto& batch : *loader) {
    second.zero_grad();
    other(batch.data).pow(2).sum().backward();
    second.step();
  }
}
//--- two_rules_of_one_number.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// What one optimizer takes as it is, the other takes a part of, by another rule.
// CHECK: const double lr = 0.1;
// CHECK: hvd::optim::SGD opt(net->parameters(), hvd::scaled_lr(lr));
// CHECK: hvd::optim::Adam second(other->parameters(), hvd::scaled_lr(lr * 0.01, hvd::LrRule::sqrt));
int main() {
  const double lr = 0.1;
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), lr);
  hvd::optim::Adam second(other->parameters(), lr * 0.01);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    second.zero_grad();
    (loss_of(net, batch) + loss_of(other, batch)).backward();
    opt.step();
    second.step();
  }
}
