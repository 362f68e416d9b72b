// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#define HITS(out, target) (out).argmax(1).eq(target).sum().item<int64_t>()

// CHECK: for (auto& batch : hvd::steps(*test)) correct += hvd::batch_sum(HITS(net(batch.data), batch.target));
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
  for (auto& batch : *test) correct += HITS(net(batch.data), batch.target);
  std::cout << correct << "\n";
}
//--- training.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#define HITS(out, target) (out).argmax(1).eq(target).sum().item<int64_t>()

// CHECK: seen += hvd::batch_sum(HITS(net(batch.data), batch.target));
// CHECK: for (auto& batch : hvd::steps(*test)) correct += hvd::batch_sum(HITS(net(batch.data), batch.target));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  int64_t seen = 0, correct = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    seen += HITS(net(batch.data), batch.target);
    opt.step();
  }
  for (auto& batch : *test) correct += HITS(net(batch.data), batch.target);
  std::cout << seen << " " << correct << "\n";
}
