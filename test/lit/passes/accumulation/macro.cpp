// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- condition.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define EVERY 2
#define DUE(n) ((n) % EVERY == 0)

// CHECK: (hvd::weighted(loss_of(net, batch) / EVERY, hvd::LossKind::mean)).backward();
// CHECK-NEXT: if (DUE(++n)) {
// CHECK-NEXT: hvd::reduce_gradients(opt);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    (loss_of(net, batch) / EVERY).backward();
    if (DUE(++n)) {
      opt.step();
      opt.zero_grad();
    }
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define UPDATE_EVERY(k) if (++n % (k) == 0) { opt.step(); opt.zero_grad(); }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();
    UPDATE_EVERY(2)  // refused: HVD3015
  }
}
