// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: explicit Trainer(size_t rows) : rows_(rows),
// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(rows_))
struct Trainer {
  explicit Trainer(size_t rows) : rows_(rows), loader(hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(rows_))) {}
  void run() {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  size_t rows_;
  std::unique_ptr<hvd::data::DataLoader> loader;
  Net net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
};

int main() { Trainer(10).run(); }
