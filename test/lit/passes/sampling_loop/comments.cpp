// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (int64_t i = 0; i < 40; i += rows) {  // the batches
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK-NEXT: // One batch.
// CHECK-NEXT: auto xb = hvd::shard(x.slice(0, i, i + rows));  // its samples
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {  // the batches
    // One batch.
    auto xb = x.slice(0, i, i + rows);  // its samples
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(xb), y.slice(0, i, i + rows)).backward();
    opt.step();
  }
}
