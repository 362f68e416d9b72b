// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: // All of them
// CHECK-NEXT: for (auto& batch : /* held out */ hvd::steps(*test))  // in order
// CHECK-NEXT: correct += hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>());
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0;
  // All of them
  for (auto& batch : /* held out */ *test)  // in order
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << correct << "\n";
}
