// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- stop.h
#pragma once
#include <filesystem>
inline bool asked_to_stop() { return std::filesystem::exists("stop"); }
//--- stop.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "stop.h"

// CHECK: if (hvd::agree(asked_to_stop())) break;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    if (asked_to_stop()) break;
  }
}
