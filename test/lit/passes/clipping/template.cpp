// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
// CHECK-NEXT: opt.step();
template <class Model, class Optimizer>
void step(Model& net, Optimizer& opt, const hvd::data::Batch& batch) {
  opt.zero_grad();
  loss_of(net, batch).backward();
  hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
  opt.step();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) step(net, opt, batch);
}
