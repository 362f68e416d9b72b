// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a batch that grows row by row until it is large enough
// One error, which names the place.
#include <torch/torch.h>

#include <cstdio>

int main() {
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::Tensor in, target, seen = torch::zeros({1, 1});
  for (int64_t i = 0; i < 44; ++i) {
    auto row = x[i].unsqueeze(0), label = y[i].unsqueeze(0);
    if (!in.defined()) {
      in = row;
      target = label;
    } else {
      in = torch::cat({in, row}, 0);  // refused: HVD3021
      target = torch::cat({target, label}, 0);
    }
    if (in.size(0) < 8) continue;
    auto loss = torch::mse_loss(net(in), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%f\n", loss.item<double>());
    seen = torch::cat({seen, net(in).detach()}, 0);
    in = torch::Tensor();
    target = torch::Tensor();
  }
}
