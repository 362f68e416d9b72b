// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::Device choose(bool fast) {
// CHECK: return hvd::local_device(fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU));
hvd::Device choose(bool fast) {
  return fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU);
}

int main(int argc, char**) {
  const hvd::Device device = choose(argc > 1);
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
