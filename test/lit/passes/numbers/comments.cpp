// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: // Sum up.
// CHECK-NEXT: total += /* mean */ hvd::batch_mean(loss.item<double>());  // later divided
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    // Sum up.
    total += /* mean */ loss.item<double>();  // later divided
  }
  std::cout << total << "\n";
}
