// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: steps that a function takes by calling itself
#include <torch/torch.h>

static void fit(torch::nn::Linear& net, torch::optim::Optimizer& optimizer, const torch::Tensor& x, const torch::Tensor& y, int64_t batch, int64_t from) {
  if (from >= x.size(0)) return;
  auto loss = torch::mse_loss(net(x.slice(0, from, from + batch)), y.slice(0, from, from + batch));
  optimizer.zero_grad();
  loss.backward();  // refused: HVD3021
  optimizer.step();
  fit(net, optimizer, x, y, batch, from + batch);
}

int main() {
  auto x = torch::randn({45, 5}), y = x.sum(1, true);
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) fit(net, optimizer, x, y, 8, 0);
}
