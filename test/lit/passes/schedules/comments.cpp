// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: if (epoch == 2) opt.set_lr(/* late */ hvd::scaled_lr(0.01));  // a tenth
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch == 2) opt.set_lr(/* late */ 0.01);  // a tenth
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
