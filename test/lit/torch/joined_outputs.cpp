// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// The batch is where the samples are drawn, not where outputs are put together.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto xs = torch::randn({40, 5}), ys = torch::randint(0, 3, {40}, torch::kLong);
  for (int step = 0; step < 6; ++step) {
    // CHECK: auto picked = hvd::whole_draw().shard(torch::randint(
    auto picked = torch::randint(0, 40, {8}, torch::kLong);
    auto out = net(xs.index_select(0, picked));
    auto first = torch::nn::functional::cross_entropy(out, ys.index_select(0, picked)), second = out.pow(2).mean();
    optimizer.zero_grad();
    // CHECK: auto loss = torch::stack({first, second}).sum();
    auto loss = torch::stack({first, second}).sum();
    // CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
    loss.backward();
    optimizer.step();
  }
}
