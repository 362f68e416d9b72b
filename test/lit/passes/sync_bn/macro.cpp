// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

#define RATE 0.1

// CHECK: hvd::sync_batchnorm(net);
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(RATE));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

#define OPTIMIZER(name, model) hvd::optim::SGD name(model->parameters(), 0.1)

int main() {
  NormNet net;
  OPTIMIZER(opt, net);  // refused: HVD3001
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
