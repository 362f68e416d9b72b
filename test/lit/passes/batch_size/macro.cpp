// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- constant.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define ROWS 10

// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(ROWS))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(ROWS));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define OPTIONS hvd::data::DataLoaderOptions(10)

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), OPTIONS);  // refused: HVD3001
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
