// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: void update(hvd::optim::Optimizer& o) {
// CHECK-NEXT: hvd::reduce_gradients(o);
// CHECK-NEXT: o.step();
void update(hvd::optim::Optimizer& o) {
  o.step();
}

// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
void back(hvd::Tensor loss) {
  loss.backward();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    back(loss_of(net, batch));
    update(opt);
  }
}
