// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (int64_t i = 0; i < 40; i += hvd::global_batch_size(rows)) {
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK: auto chosen = hvd::shard(order.slice(0, i, i + hvd::global_batch_size(rows)));
struct Trainer {
  Trainer() { net->train(); }
  void run() {
    auto order = hvd::randperm(40);
    for (int64_t i = 0; i < 40; i += rows) {
      auto chosen = order.slice(0, i, i + rows);
      opt.zero_grad();
      hvd::nn::functional::cross_entropy(net(x.index_select(0, chosen)), y.index_select(0, chosen)).backward();
      opt.step();
    }
  }
  int64_t rows = 10;
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  Net net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
};

int main() { Trainer().run(); }
