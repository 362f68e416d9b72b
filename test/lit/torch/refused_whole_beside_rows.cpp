// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A loss of which one tensor has this rank's rows and the other all of them, and changes in place that only a slice would get. With one row a rank
// broadcasting would hide the first.

//--- labels_cut_before.cpp
// form: labels of the training nodes, cut in front of the loop
#include <torch/torch.h>

struct Net : torch::nn::Module {
  torch::nn::Linear a{nullptr};
  Net() { a = register_module("a", torch::nn::Linear(4, 3)); }
  torch::Tensor forward(torch::Tensor x) { return a(x); }
};

int main() {
  auto x = torch::rand({20, 4}), y = torch::rand({20, 3});
  auto train_y = y.slice(0, 0, 2);
  Net net;
  torch::optim::Adam optimizer(net.parameters(), 0.01);
  for (int epoch = 0; epoch < 8; ++epoch) {
    auto out = net.forward(x);
    auto loss = torch::mse_loss(out.slice(0, 0, 2), train_y);  // refused: HVD3012
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- turned_in_place.cpp
// form: a batch that is filled row by row and then changed in place
#include <torch/torch.h>

int main() {
  const int64_t batch = 6;
  torch::nn::Linear net(2, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({36, 2, 2});
  for (int64_t i = 0; i < 36 / batch; ++i) {
    auto rows = torch::zeros({batch, 2, 2});
    for (int64_t j = 0; j < batch; ++j) rows[j] = x[i * batch + j];
    rows.transpose_(1, 2);  // refused: HVD3012
    auto loss = torch::tanh(net->forward(rows)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- gradients_of_rows.cpp
#include <torch/torch.h>

#include <cstdio>

int main() {
  const int64_t batch = 6;
  torch::nn::Linear net(2, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({36, 2});
  for (int64_t i = 0; i < 36 / batch; ++i) {
    auto rows = torch::zeros({batch, 2});
    for (int64_t j = 0; j < batch; ++j) rows[j] = x[i * batch + j];
    rows.requires_grad_(true);  // refused: HVD3012
    auto loss = torch::tanh(net->forward(rows)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%f\n", rows.grad().abs().sum().item<double>());
  }
}
