// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define TIMED(...) __VA_ARGS__

// CHECK: TIMED(hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward());
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: TIMED(opt.step());
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    TIMED(loss_of(net, batch).backward());
    TIMED(opt.step());
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define STEP loss.backward(); opt.step()

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    STEP;  // refused: HVD3001 HVD3015
  }
}
