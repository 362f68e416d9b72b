// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- defaults.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: auto loader = hvd::data::make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(
// CHECK: for (auto& batch : hvd::steps(*loader)) {
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- named.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: make_data_loader<hvd::Sharded<hvd::data::SequentialSampler>>(samples(),
// CHECK: for (const auto& [data, target] : hvd::steps(*loader)) {
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(), hvd::data::DataLoaderOptions(10).drop_last(true));
  for (const auto& [data, target] : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(data), target).backward();
    opt.step();
  }
}
//--- object.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: make_data_loader(samples(), hvd::Sharded(hvd::data::RandomSampler(40)), hvd::data::DataLoaderOptions(hvd::global_batch_size(10)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::RandomSampler(40), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
