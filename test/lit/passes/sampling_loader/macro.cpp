// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- arguments.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define EACH(name, range) for (auto& name : range)
#define OPTIONS hvd::data::DataLoaderOptions(10)

// CHECK: EACH(batch, hvd::steps(*loader)) {
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  EACH(batch, *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define LOOP for (auto& batch : *loader)

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  LOOP {  // refused: HVD3001
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
