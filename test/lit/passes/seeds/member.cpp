// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <random>

// CHECK: hvd::manual_seed(hvd::shared_seed(seed_));
struct Program {
  Program() : seed_(std::random_device{}()) {}
  void run() {
    hvd::manual_seed(seed_);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  uint64_t seed_;
};

int main() { Program().run(); }
