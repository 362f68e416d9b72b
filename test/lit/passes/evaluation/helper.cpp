// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- function.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: for (const auto& batch : hvd::steps(loader)) {
// CHECK-NEXT: correct += hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>());
// CHECK-NEXT: rows += hvd::global(batch.data.size(0));
// CHECK: return static_cast<double>(correct) / rows;
double accuracy(Net& net, hvd::data::DataLoader& loader) {
  int64_t correct = 0, rows = 0;
  for (const auto& batch : loader) {
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  return static_cast<double>(correct) / rows;
}

// CHECK: std::cout) << accuracy(net, *test) << "\n";
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
  std::cout << accuracy(net, *test) << "\n";
}
//--- shared.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// One function for training and evaluation.
// CHECK: return hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>());
int64_t hits(Net& net, const hvd::data::Batch& batch) {
  return net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  int64_t seen = 0, correct = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    seen += hits(net, batch);
    opt.step();
  }
  for (auto& batch : *test) correct += hits(net, batch);
  std::cout << seen << " " << correct << "\n";
}
