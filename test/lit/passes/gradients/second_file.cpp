// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- loss.h
#pragma once
#include <hvd/hvd.hpp>
inline hvd::Tensor squared(const hvd::Tensor& t) { return t.pow(2).mean(); }
//--- loss.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "loss.h"

// CHECK: hvd::weighted(squared(net(batch.data)), hvd::LossKind::mean).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    squared(net(batch.data)).backward();
    opt.step();
  }
}
//--- step.h
// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK: hvd::reduce_gradients(opt);
#pragma once
#include "parts.h"
inline void step(Net& net, hvd::optim::Optimizer& opt, const hvd::data::Batch& batch) {
  opt.zero_grad();
  loss_of(net, batch).backward();
  opt.step();
}
//--- step.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "step.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) step(net, opt, batch);
}
