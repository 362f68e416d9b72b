// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- accuracy.h
// CHECK: for (const auto& batch : hvd::steps(loader)) {
// CHECK-NEXT: correct += hvd::batch_sum(
// CHECK-NEXT: rows += hvd::global(batch.data.size(0));
#pragma once
#include "parts.h"
inline double accuracy(Net& net, hvd::data::DataLoader& loader) {
  int64_t correct = 0, rows = 0;
  for (const auto& batch : loader) {
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  return static_cast<double>(correct) / rows;
}
//--- report.h
// CHECK: for (const auto& batch : hvd::steps(loader)) hvd::root_stream(std::cout) << hvd::batch_mean(loss_of(net, batch).item<double>()) << "\n";
#pragma once
#include <iostream>

#include "parts.h"
inline void report(Net& net, hvd::data::DataLoader& loader) {
  for (const auto& batch : loader) std::cout << loss_of(net, batch).item<double>() << "\n";
}
//--- used.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include "accuracy.h"

// CHECK: const double right = accuracy(net, *test);
// CHECK-NEXT: if (hvd::is_root()) std::cout << right << "\n";
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
  const double right = accuracy(net, *test);
  std::cout << right << "\n";
}
//--- changed.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include "report.h"

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
  report(net, *test);
}
