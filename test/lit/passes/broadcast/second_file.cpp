// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- model.h
#pragma once
#include "parts.h"
inline std::vector<hvd::Tensor> weights(Net& model) { return model->parameters(); }
//--- model.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "model.h"

// CHECK: hvd::optim::SGD opt(weights(net),
// CHECK-NEXT: hvd::broadcast(net, opt);
int main() {
  Net net;
  hvd::optim::SGD opt(weights(net), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- trainer.h
// CHECK: Trainer() : opt(net->parameters(), options()) {
// CHECK: hvd::broadcast(net, opt);
// CHECK: hvd::overlap(net, opt);  // reduce each bucket while backward still runs
#pragma once
#include "parts.h"
struct Trainer {
  Trainer() : opt(net->parameters(), options()) {}
  static hvd::optim::SGDOptions options() { return hvd::optim::SGDOptions(0).momentum(0.9); }
  Net net;
  hvd::optim::SGD opt;
};
//--- trainer.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "trainer.h"

int main() {
  Trainer trainer;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    trainer.opt.zero_grad();
    loss_of(trainer.net, batch).backward();
    trainer.opt.step();
  }
}
