// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- limit.h
#pragma once
struct Limits {
  double norm = 1.0;
};
//--- limit.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "limit.h"

// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(net->parameters(), limits.norm);
int main() {
  const Limits limits;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    hvd::nn::utils::clip_grad_norm_(net->parameters(), limits.norm);
    opt.step();
  }
}
//--- update.h
// CHECK: hvd::reduce_gradients(opt);
#pragma once
#include "parts.h"
inline void update(Net& net, hvd::optim::Optimizer& opt) {
  hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
  opt.step();
}
//--- update.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "update.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    update(net, opt);
  }
}
