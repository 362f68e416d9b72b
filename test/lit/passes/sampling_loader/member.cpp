// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: loader(hvd::data::make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(samples(),
// CHECK: for (auto& batch : hvd::steps(*loader)) step(batch);
struct Trainer {
  Trainer() : loader(hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10))), opt(net->parameters(), 0.1) {}
  void step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  void run() {
    for (auto& batch : *loader) step(batch);
  }
  std::unique_ptr<hvd::data::DataLoader> loader;
  Net net;
  hvd::optim::SGD opt;
};

int main() { Trainer().run(); }
