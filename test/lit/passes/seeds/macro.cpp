// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- value.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

#define NOW std::time(nullptr)

// CHECK: hvd::manual_seed(hvd::shared_seed(NOW));
int main() {
  hvd::manual_seed(NOW);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

#define SEED_ALL() hvd::manual_seed(std::time(nullptr))

int main() {
  SEED_ALL();  // refused: HVD3001
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
