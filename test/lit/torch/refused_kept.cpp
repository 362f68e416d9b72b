// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: running statistics that keep gradients
// form: the number of single samples that a batch is split into
// form: a mean over rows that were kept in an earlier step, under a condition
// form: rows put into a list under another name, and read after the loop
#include <torch/torch.h>

#include <iostream>
#include <vector>

torch::Tensor xs = torch::ones({36, 4}), ys = torch::ones({36, 4});

// Without a guard the gradient of the loss goes through the mean of this batch.
void keeps(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto middle = torch::zeros({4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    middle = 0.9 * middle.detach() + 0.1 * out.mean(0);
    auto loss = torch::mse_loss(out - middle, ys.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

void splits(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = xs.slice(0, at, at + 8), y = ys.slice(0, at, at + 8);
    auto parts = x.split(2);
    std::cout << parts.size() << '\n';  // refused: HVD3012
    auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void compares(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  torch::Tensor before;
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = xs.slice(0, at, at + 8), y = ys.slice(0, at, at + 8);
    if (at == 0) before = x.clone();
    auto loss = torch::mse_loss(net(x) - before.mean(0), y);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

// The list has what its item is given by reference.
void names(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  std::vector<torch::Tensor> kept(2);
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::mse_loss(out, ys.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    auto& first = kept[0];
    first = out.detach();
  }
  std::cout << kept[0].mean().item<double>() << '\n';  // refused: HVD3012
}

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  keeps(net, optimizer);
  splits(net, optimizer);
  compares(net, optimizer);
  names(net, optimizer);
}
