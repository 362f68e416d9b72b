// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: total += hvd::batch_mean(loss.item<double>());
struct Meter {
  void add(const hvd::Tensor& loss) {
    total += loss.item<double>();
    ++steps;
  }
  double mean() const { return total / steps; }
  double total = 0;
  int steps = 0;
};

// CHECK: if (hvd::is_root()) std::cout << meter.mean() << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Meter meter;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    meter.add(loss);
  }
  std::cout << meter.mean() << "\n";
}
