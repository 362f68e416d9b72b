// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- summed_tensors.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// Losses added up over batches: each belongs to a step of its own.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::Tensor total = hvd::zeros({});
  for (auto& batch : *loader) {
    total = total + loss_of(net, batch);
  }
  opt.zero_grad();
  total.backward();  // refused: HVD3010
  opt.step();
}
