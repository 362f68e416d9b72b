// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_step.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();  // refused: HVD3015
  }
}
//--- condition.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


bool stepped(hvd::optim::Optimizer& opt) { return opt.step(), true; }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    for (int i = 0; i < 1; opt.step(), ++i) loss.backward();  // refused: HVD3003
  }
}
