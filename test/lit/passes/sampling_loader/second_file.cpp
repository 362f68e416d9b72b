// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- images.h
#pragma once
#include <hvd/hvd.hpp>
struct Noise : hvd::data::Dataset {
  hvd::data::Example get(size_t i) override { return {hvd::full({8}, static_cast<double>(i)), hvd::zeros({}, hvd::kInt64)}; }
  size_t size() const override { return 40; }
};
//--- images.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "images.h"

// CHECK: hvd::data::make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(std::make_shared<Noise>(),
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(std::make_shared<Noise>(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- loop.h
// CHECK: for (auto& batch : hvd::steps(loader)) {
// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK: hvd::reduce_gradients(opt);
#pragma once
#include "parts.h"
inline void train(Net& net, hvd::optim::Optimizer& opt, hvd::data::DataLoader& loader) {
  for (auto& batch : loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- loop.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "loop.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  train(net, opt, *loader);
}
