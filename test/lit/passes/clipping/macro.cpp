// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define CHECKED(...) __VA_ARGS__

// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: CHECKED(hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0));
// CHECK-NEXT: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    CHECKED(hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0));
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define UPDATE do { hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0); opt.step(); } while (false)

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    UPDATE;  // refused: HVD3015
  }
}
