// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: the results of a step in a list whose items change before they are used
#include <torch/torch.h>

#include <iostream>
#include <vector>

torch::Tensor xs = torch::ones({36, 4}), ys = torch::ones({36, 4});

// The mean loss, the sum of the errors, an output.
std::vector<torch::Tensor> step(torch::nn::Linear& net, torch::optim::SGD& optimizer, int64_t at) {
  auto out = net(xs.slice(0, at, at + 8));
  auto loss = torch::mse_loss(out, ys.slice(0, at, at + 8));
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  return {loss.detach(), (out - ys.slice(0, at, at + 8)).abs().sum(), out.detach()};
}

void swap_first(std::vector<torch::Tensor>& results) { std::swap(results[0], results[1]); }

void train(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto assigned = step(net, optimizer, at);
    assigned[0] = assigned[1];  // refused: HVD3012
    std::cout << assigned[0].item<double>() << '\n';  // refused: HVD3012
    auto swapped = step(net, optimizer, at);
    swap_first(swapped);
    std::cout << swapped[0].item<double>() << '\n';  // refused: HVD3012
    auto in_place = step(net, optimizer, at);
    in_place[0].add_(in_place[1]);  // refused: HVD3012
    std::cout << in_place[0].item<double>() << '\n';  // refused: HVD3012
    auto shorter = step(net, optimizer, at);
    shorter.erase(shorter.begin());
    std::cout << shorter[0].item<double>() << '\n';  // refused: HVD3012
    auto named = step(net, optimizer, at);
    auto& first = named[0];
    first = named[1];
    std::cout << named[0].item<double>() << '\n';  // refused: HVD3012
    for (int i = 0; i < 2; ++i) std::cout << step(net, optimizer, at)[i].item<double>() << '\n';  // refused: HVD3012
  }
}

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  train(net, optimizer);
}
