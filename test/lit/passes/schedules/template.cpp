// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: opt.set_lr(hvd::scaled_lr(rule(epoch)));
template <class Rule>
void train(Net& net, hvd::optim::Optimizer& opt, hvd::data::DataLoader& data, Rule rule) {
  auto* loader = &data;
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(rule(epoch));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  train(net, opt, *loader, [](int epoch) { return 0.1 / (1 + epoch); });
}
