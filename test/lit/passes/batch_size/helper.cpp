// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


hvd::data::DataLoaderOptions options(size_t rows) {
  return hvd::data::DataLoaderOptions().batch_size(rows).drop_last(true);
}

// CHECK: auto loader = hvd::data::make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(samples(), options(hvd::global_batch_size(10)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), options(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
