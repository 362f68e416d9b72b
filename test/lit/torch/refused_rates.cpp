// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a rate made from a scaled rate and from a batch size that grows, where per-rank batches are asked for
// HVDIZE: --batch=per-rank
#include <torch/torch.h>

int main() {
  torch::nn::Linear net(4, 1);
  const double rate = 0.1;
  torch::optim::SGD optimizer(net->parameters(), rate);
  const torch::Tensor xs = torch::ones({60, 4}), ys = torch::ones({60, 1});
  int64_t batch = 8;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < 60; at += batch) {
      auto loss = torch::mse_loss(net(xs.slice(0, at, at + batch)), ys.slice(0, at, at + batch));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    batch *= 2;
    const double scale = static_cast<double>(batch) / 8;
    optimizer.param_groups()[0].options().set_lr(rate * scale);  // refused: HVD3034
  }
}
