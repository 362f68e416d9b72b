// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a table that steps put rows of their batch into, and draw a batch from
// Each rank would put in another row: the first of its own slice.
#include <torch/torch.h>

int main() {
  auto x = torch::rand({44, 5});
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto table = torch::zeros({20, 5});
  int64_t at = 0;
  for (int64_t i = 0; i + 8 <= 44; i += 8) {
    auto rows = x.slice(0, i, i + 8);
    auto chosen = torch::randint(0, 20, {8});
    auto loss = (net(rows) - net(table.index({chosen}))).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
    table[at] = rows[0];
    at = (at + 1) % 20;
  }
}
