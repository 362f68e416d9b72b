// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- helper.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

bool expired(std::time_t start) {
  return std::time(nullptr) - start > 60;
}

// CHECK: if (hvd::agree(expired(start))) break;
int main() {
  const auto start = std::time(nullptr);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    if (expired(start)) break;
  }
}
