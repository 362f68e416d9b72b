// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: bool due(int n) {
// CHECK: void update(hvd::optim::Optimizer& opt) {
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
bool due(int n) {
  return n % 4 == 0;
}

void update(hvd::optim::Optimizer& opt) {
  opt.step();
  opt.zero_grad();
}

// CHECK-NOT: hvd::overlap
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    (loss_of(net, batch) * 0.25).backward();
    if (due(++n)) update(opt);
  }
}
