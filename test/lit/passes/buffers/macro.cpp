// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

#define DO(...) __VA_ARGS__

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: DO(net->eval());
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  DO(net->eval());
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

#define FINISH(model) model->eval()

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: FINISH(net);
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  FINISH(net);
}
