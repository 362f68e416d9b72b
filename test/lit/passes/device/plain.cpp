// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::Device device(hvd::local_device(hvd::kCPU));
// CHECK: batch.data.to(device)
int main() {
  hvd::Device device(hvd::kCPU);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  net->to(device);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data.to(device)), batch.target.to(device)).backward();
    opt.step();
  }
}
