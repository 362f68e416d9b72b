// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --steps=divide
#include <hvd/hvd.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

struct NetImpl : hvd::nn::Module {
  hvd::nn::Linear layer = register_module("layer", hvd::nn::Linear(8, 3));
  hvd::Tensor forward(const hvd::Tensor& x) { return layer->forward(x); }
};
HVD_MODULE(Net);

void learn(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  opt.zero_grad();
  auto loss = hvd::nn::functional::mse_loss(net->forward(x), y);
  loss.backward();
  opt.step();
}

// Rounds that collect one row each are no steps: their number stays.
// CHECK-LABEL: void collected
// CHECK: for (int64_t i = 0; i < 51; ++i) {
// CHECK: if (xs.size() < hvd::global_batch_size<unsigned long>(8)) continue;
void collected(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  std::vector<hvd::Tensor> xs, ys;
  for (int64_t i = 0; i < 51; ++i) {
    xs.push_back(x[i]);
    ys.push_back(y[i]);
    if (xs.size() < 8) continue;
    learn(net, opt, hvd::stack(xs), hvd::stack(ys));
    xs.clear();
    ys.clear();
  }
}

// A constant is compared with an unsigned number as before, without a warning of signs.
// CHECK-LABEL: void held
// CHECK: const int size = hvd::global_batch_size(8);
// CHECK: if (xs.size() == static_cast<unsigned long>(size)) {
void held(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  const int size = 8;
  std::vector<hvd::Tensor> xs, ys;
  for (int64_t i = 0; i < 51; ++i) {
    xs.push_back(x[i]);
    ys.push_back(y[i]);
    if (xs.size() == size) {
      learn(net, opt, hvd::stack(xs), hvd::stack(ys));
      xs.clear();
      ys.clear();
    }
  }
}

// What is collected here are losses: the rounds are steps.
// CHECK-LABEL: void reported
// CHECK: for (int step = 0; step < hvd::scaled_steps(20); ++step) {
// CHECK: if (losses.size() == 5) {
void reported(Net& net, hvd::optim::SGD& opt) {
  std::vector<double> losses;
  for (int step = 0; step < 20; ++step) {
    auto x = hvd::randn({8, 8}), y = hvd::randn({8, 3});
    opt.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    losses.push_back(loss.item<double>());
    if (losses.size() == 5) {
      std::cout << losses.front() << " " << losses.back() << "\n";
      losses.clear();
    }
  }
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto x = hvd::randn({51, 8}), y = hvd::randn({51, 3});
  collected(net, opt, x, y);
  held(net, opt, x, y);
  reported(net, opt);
}
