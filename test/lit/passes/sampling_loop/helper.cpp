// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::Tensor rows_of(const hvd::Tensor& t, int64_t first, int64_t count) {
// CHECK-NEXT: return hvd::shard(t.slice(0, first, first + count));
hvd::Tensor rows_of(const hvd::Tensor& t, int64_t first, int64_t count) {
  return t.narrow(0, first, count);
}

// CHECK: hvd::StepScope hvd_step;
// CHECK-NEXT: const auto xb = rows_of(x, i, rows), yb = rows_of(y, i, rows);
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    const auto xb = rows_of(x, i, rows), yb = rows_of(y, i, rows);
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(xb), yb).backward();
    opt.step();
  }
}
