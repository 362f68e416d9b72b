// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: hvd::sync_buffers(model);
// CHECK-NEXT: model->eval();
template <class Model>
void finish(Model& model) {
  model->eval();
}

int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  finish(net);
  hvd::nn::BatchNorm2d other(3);
  finish(other);
}
