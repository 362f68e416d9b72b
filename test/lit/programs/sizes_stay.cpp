// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// No rule says how a rate is to follow larger batches: they stay as they are, and a warning says why.
//--- two_rules.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

template <class Optimizer>
void train() {
  Net net;
  Optimizer opt(net->parameters(), 0.1);  // says: HVD2010
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() {
  // CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
  // CHECK-NOT: scaled_lr
  train<hvd::optim::SGD>();
  train<hvd::optim::Adam>();
}
//--- taken_over.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

struct Config {
  double rate = 0.1;
};

int main() {
  // CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
  // CHECK-NOT: scaled_lr
  Config config, now;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(config.rate));  // says: HVD2010
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
//--- follows_both.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  // CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
  // CHECK-NOT: scaled_lr
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();  // says: HVD2010
    opt.step();
  }
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).pow(2).sum().backward();
    opt.step();
  }
}
