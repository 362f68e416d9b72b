// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: const hvd::Device device(hvd::local_device(Kind));
template <hvd::DeviceType Kind>
void run() {
  const hvd::Device device(Kind);
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

int main(int argc, char**) {
  if (argc > 1) run<hvd::DeviceType::kOneDnn>();
  else run<hvd::DeviceType::kCpu>();
}
