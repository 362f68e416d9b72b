// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Batches picked from what was collected before. The extent of a state's noise is no batch size, nor is that of a single draw.
#include <deque>
#include <random>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::Session hvd_session;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::deque<hvd::Tensor> memory;
  std::mt19937 engine(3);
  auto state = hvd::zeros({6});
  for (int step = 0; step < 50; ++step) {  // says: HVD2005
    // CHECK: hvd::randn({6})
    state = (state + hvd::randn({6}) * 0.1).tanh();
    memory.push_back(state);
    if (memory.size() < 20) continue;
    std::vector<hvd::Tensor> rows;
    // CHECK: for (int k = 0; k < hvd::global_batch_size(10); ++k) rows.push_back(
    for (int k = 0; k < 10; ++k) rows.push_back(memory[engine() % memory.size()]);
    // CHECK: auto batch = hvd::shard(hvd::stack(rows));
    auto batch = hvd::stack(rows);
    opt.zero_grad();
    hvd::nn::functional::mse_loss(net(batch), batch).backward();
    opt.step();
  }
}
