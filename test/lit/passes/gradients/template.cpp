// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
template <class Optimizer>
void step(Net& net, Optimizer& opt, const hvd::data::Batch& batch) {
  opt.zero_grad();
  loss_of(net, batch).backward();
  opt.step();
}

int main(int argc, char**) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  Net other;
  hvd::optim::SGD second(other->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    step(net, opt, batch);
    if (argc > 1) step<hvd::optim::Optimizer>(other, second, batch);
  }
}
