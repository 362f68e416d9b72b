// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- shape.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data.view({20, 4})), batch.target).backward();  // refused: HVD3010
    opt.step();
  }
}
