// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <chrono>

// A rate that differs between ranks cannot be made one by a shared seed.
int main() {
  const double lr = 1.0 / static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));  // refused: HVD3012
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
