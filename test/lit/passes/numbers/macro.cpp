// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


#define ADD(to, what) to += (what)

// CHECK: ADD(total, hvd::batch_mean(loss.item<double>()));
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
    ADD(total, loss.item<double>());
  }
  std::cout << total << "\n";
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


#define COUNT(loss) total += (loss).item<double>(), ++n

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    COUNT(loss);  // refused: HVD3001
  }
  std::cout << total / n << "\n";
}
