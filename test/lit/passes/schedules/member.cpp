// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: opt.set_lr(hvd::scaled_lr(base * std::pow(0.9, epoch)));
struct Decay {
  double base = 0.1;
  void apply(hvd::optim::Optimizer& opt, int epoch) const { opt.set_lr(base * std::pow(0.9, epoch)); }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const Decay decay;
  for (int epoch = 0; epoch < 3; ++epoch) {
    decay.apply(opt, epoch);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
