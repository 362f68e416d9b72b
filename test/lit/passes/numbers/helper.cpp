// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: double accuracy(const hvd::Tensor& out, const hvd::Tensor& target) {
// CHECK-NEXT: return hvd::batch_mean(out.argmax(1).eq(target).to(hvd::kFloat32).mean().item<double>());
double accuracy(const hvd::Tensor& out, const hvd::Tensor& target) {
  return out.argmax(1).eq(target).to(hvd::kFloat32).mean().item<double>();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    hvd::nn::functional::cross_entropy(out, batch.target).backward();
    opt.step();
    total += accuracy(out, batch.target);
  }
  std::cout << total / loader->size() << "\n";
}
