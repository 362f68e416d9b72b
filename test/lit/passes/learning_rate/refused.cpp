// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- mixed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();  // refused: HVD3025
    net(batch.data).pow(2).sum().backward();
    opt.step();
  }
}
//--- two_rules.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  const double lr = 0.1;
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::Adam second(other->parameters(), hvd::optim::AdamOptions(lr));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  for (auto* o : {static_cast<hvd::optim::Optimizer*>(&opt), static_cast<hvd::optim::Optimizer*>(&second)}) o->set_lr(0.01);  // refused: HVD3015
  for (auto& batch : *loader) {
    second.zero_grad();
    loss_of(other, batch).backward();
    second.step();
  }
}
//--- taken_over.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

struct Config {
  double rate = 0.1;
};

int main() {
  Config config, now;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(config.rate));  // refused: HVD3029
  now.rate = opt.lr();
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    now.rate *= 0.9;
    opt.set_lr(now.rate);
  }
}
