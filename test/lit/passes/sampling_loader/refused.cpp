// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- by_hand.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto it = loader->begin();  // refused: HVD3022
  for (int step = 0; step < 4; ++step) {
    opt.zero_grad();
    loss_of(net, *it).backward();  // refused: HVD3021
    opt.step();
    ++it;
  }
}
//--- opaque.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


std::unique_ptr<hvd::data::DataLoader> open_somewhere();

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = open_somewhere();
  for (auto& batch : *loader) {  // refused: HVD3012
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
