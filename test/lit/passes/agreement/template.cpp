// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: if (hvd::agree(std::time(nullptr) > static_cast<std::time_t>(end))) return;
template <class T>
void train(Net& net, hvd::optim::Optimizer& opt, hvd::data::DataLoader& data, T end) {
  auto* loader = &data;
  for (int epoch = 0; epoch < 3; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    if (std::time(nullptr) > static_cast<std::time_t>(end)) return;
  }
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  train(net, opt, *loader, 100);
  train(net, opt, *loader, 200L);
}
