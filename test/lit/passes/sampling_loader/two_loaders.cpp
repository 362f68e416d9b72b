// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- by_hand_two_loaders.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto other = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: auto it = hvd::batches(loader).begin();
  auto it = loader->begin();
  // CHECK: auto second = hvd::batches(other).begin();
  auto second = other->begin();
  // CHECK: for (int step = 0; step < 4; ++step) {
  // CHECK-NEXT: hvd::StepScope hvd_step;
  for (int step = 0; step < 4; ++step) {
    opt.zero_grad();
    (loss_of(net, *it) + loss_of(net, *second)).backward();
    opt.step();
    ++it;
    ++second;
  }
}
//--- by_hand_in_a_loop.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto other = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: make_data_loader<hvd::Sharded<{{.*}}>>(samples(), hvd::data::DataLoaderOptions(hvd::global_batch_size(10)))
  // CHECK: auto second = hvd::batches(other).begin();
  auto second = other->begin();
  // CHECK: for (auto& batch : hvd::steps(*loader)) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    (loss_of(net, batch) + loss_of(net, *second)).backward();
    opt.step();
    ++second;
  }
}
