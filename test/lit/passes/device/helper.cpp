// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


hvd::Device choose(bool fast) {
  return fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU);
}

void move(Net& net, const hvd::Device& where) {
  net->to(where);
}

// CHECK: const hvd::Device device = hvd::local_device(choose(argc > 1));
// CHECK-NOT: local_device
int main(int argc, char**) {
  const hvd::Device device = choose(argc > 1);
  const hvd::Device same = device;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  move(net, same);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
