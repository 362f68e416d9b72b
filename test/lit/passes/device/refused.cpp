// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- returned_by_macro.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define DEVICE_OF(fast) ((fast) ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU))
#define STORE_DEVICE(fast) hvd::Device device = DEVICE_OF(fast)

int main(int argc, char**) {
  STORE_DEVICE(argc > 1);  // refused: HVD3001
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  net->to(device);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
