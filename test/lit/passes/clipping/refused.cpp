// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_optimizer_near.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


void clip(Net& net) {
  hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);  // refused: HVD3015
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    clip(net);
    opt.step();
  }
}
