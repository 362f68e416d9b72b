// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "parts.h"

// Where batches begin is written in a list, or put into one by numbers that say nothing of the size: larger batches would overlap.
// CHECK: hvd::Batch::global_only
// CHECK: x.slice(0, at, at + 8)
// CHECK: x.narrow(0, from, rows)
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto x = hvd::randn({51, 8}), y = hvd::randn({51, 3});
  const std::vector<int64_t> begins = {0, 8, 16, 24};
  for (int64_t at : begins) {
    auto loss = hvd::nn::functional::mse_loss(net(x.slice(0, at, at + 8)), y.slice(0, at, at + 8));  // says: HVD2010
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (int64_t k = 0; k < 5; ++k) pieces.emplace_back(k * 10, 10);
  for (auto [from, rows] : pieces) {
    auto loss = hvd::nn::functional::mse_loss(net(x.narrow(0, from, rows)), y.narrow(0, from, rows));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
