// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a batch that is a part of the data, given to a layer or a function that works in place
// Each rank changes the rows that it has. A later step, in which another rank has them, or what reads all data, would find others.
#include <torch/torch.h>

#include <random>
#include <vector>

namespace F = torch::nn::functional;

torch::Tensor xs = torch::ones({36, 4}), ys = torch::ones({36, 4});

void step(torch::optim::SGD& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();  // refused: HVD3010
  optimizer.step();
}

void anywhere(torch::nn::Linear& net, torch::optim::SGD& optimizer, std::mt19937& generator) {
  std::uniform_int_distribution<int64_t> place(0, 28);
  torch::nn::Sequential layers(torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.5).inplace(true)), net);
  for (int k = 0; k < 20; ++k) {
    const int64_t at = place(generator);
    auto x = xs.narrow(0, at, 8), y = ys.narrow(0, at, 8);
    auto active = F::leaky_relu(x, F::LeakyReLUFuncOptions().inplace(true));  // refused: HVD3012
    auto more = layers->forward(x);  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(active) + more, y));
  }
}

void lists(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto parts = xs.split(8), wanted = ys.split(8);
    for (size_t k = 0; k < parts.size(); ++k) {
      auto x = parts[k];
      torch::mul_out(x, x, x);  // refused: HVD3012
      step(optimizer, torch::mse_loss(net(x), wanted[k]));
    }
  }
}

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  std::mt19937 generator(3);
  anywhere(net, optimizer, generator);
  lists(net, optimizer);
}
