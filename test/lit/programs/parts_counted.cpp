// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <cstdint>

#include "parts.h"

// The program says how many batches there are: larger ones would come to the end of the data before.
// CHECK: hvd::Batch::global_only
// CHECK: const int64_t size = x.size(0) / parts;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto x = hvd::randn({51, 8}), y = hvd::randn({51, 3});
  const int64_t parts = 6;
  const int64_t size = x.size(0) / parts;
  for (int64_t k = 0; k < parts; ++k) {  // says: HVD2010
    auto loss = hvd::nn::functional::mse_loss(net(x.narrow(0, k * size, size)), y.narrow(0, k * size, size));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
