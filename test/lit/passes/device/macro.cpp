// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define DEFAULT_DEVICE hvd::kCPU

// CHECK: hvd::Device device(hvd::local_device(DEFAULT_DEVICE));
int main() {
  hvd::Device device(DEFAULT_DEVICE);
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
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define CHOOSE_DEVICE hvd::Device device(hvd::kCPU)

int main() {
  CHOOSE_DEVICE;  // refused: HVD3001
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
