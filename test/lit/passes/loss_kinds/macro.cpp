// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- reduction.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#define TOTAL(x) (x).square().sum()

// CHECK: hvd::weighted(TOTAL(net(batch.data)), hvd::LossKind::sum).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    TOTAL(net(batch.data)).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#define BACK(x) (x).square().sum().backward()

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    BACK(net(batch.data));  // refused: HVD3001
    opt.step();
  }
}
