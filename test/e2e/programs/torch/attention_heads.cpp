// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// Attention whose products are of three dimensions because the function asks for the third extent; blocks in a container of the framework.
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>

struct HeadImpl : torch::nn::Module {
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr};
  HeadImpl(int width, int inner) {
    query = register_module("query", torch::nn::Linear(width, inner));
    key = register_module("key", torch::nn::Linear(width, inner));
    value = register_module("value", torch::nn::Linear(width, width));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto q = query->forward(x), k = key->forward(x);
    const auto inner = q.size(2);
    auto weight = torch::matmul(q, k.transpose(-2, -1)) * std::pow(inner, -0.5);
    return x + torch::matmul(torch::softmax(weight, -1), value->forward(x));
  }
};
TORCH_MODULE(Head);

struct Net : torch::nn::Module {
  Head first{nullptr};
  torch::nn::Sequential blocks{nullptr};
  torch::nn::Linear out{nullptr};
  Net() {
    first = register_module("first", Head(4, 3));
    blocks = register_module("blocks", torch::nn::Sequential());
    for (int i = 0; i < 2; ++i) blocks->push_back(Head(4, 3));
    out = register_module("out", torch::nn::Linear(4, 1));
  }
  torch::Tensor forward(torch::Tensor x) { return out->forward(blocks->forward(first->forward(x))).mean(1); }
};

int main(int argc, char** argv) {
  torch::manual_seed(7);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.05;
  auto x = torch::randn({32, 5, 4}, torch::kDouble), y = x.sum(2).slice(1, 0, 1);
  Net net;
  net.to(torch::kDouble);
  torch::optim::SGD optimizer(net.parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < x.size(0); at += batch) {
      auto rows = x.slice(0, at, std::min<int64_t>(at + batch, 32));
      auto loss = torch::mse_loss(net.forward(rows), y.slice(0, at, std::min<int64_t>(at + batch, 32)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::cout << std::setprecision(12) << loss.item<double>() << std::endl;
    }
}
