// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: // Where it runs.
// CHECK-NEXT: hvd::Device device(/* slow */ hvd::local_device(hvd::kCPU));  // or kOneDNN
int main() {
  // Where it runs.
  hvd::Device device(/* slow */ hvd::kCPU);  // or kOneDNN
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
