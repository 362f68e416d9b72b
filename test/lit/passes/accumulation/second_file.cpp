// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- period.h
#pragma once
struct Period {
  explicit Period(int every) : every(every) {}
  bool due() { return ++n % every == 0; }
  int every, n = 0;
};
//--- period.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "period.h"

// CHECK: if (period.due()) {
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Period period(2);
  for (auto& batch : *loader) {
    (loss_of(net, batch) / 2).backward();
    if (period.due()) {
      opt.step();
      opt.zero_grad();
    }
  }
}
//--- update.h
// CHECK: hvd::reduce_gradients(opt);
#pragma once
#include <hvd/hvd.hpp>
inline void update(hvd::optim::Optimizer& opt, int n) {
  if (n % 2) return;
  opt.step();
  opt.zero_grad();
}
//--- update.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "update.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();
    update(opt, ++n);
  }
}
