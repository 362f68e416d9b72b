// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: return hvd::batch_mean(loss.template item<T>());
template <class T, class Tensor>
T number(const Tensor& loss) {
  return loss.template item<T>();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    total += number<double>(loss);
    total += number<float>(loss);
  }
  std::cout << total << "\n";
}
