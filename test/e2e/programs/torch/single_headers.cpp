// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kRows = 8 => kRows = {8*N}; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); ranks=1,2,3; timeout=120
// No more of LibTorch is included than the headers of what is used.
// form: a program that includes single headers of LibTorch
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <cstdio>

int main() {
  torch::manual_seed(4);
  const int64_t kRows = 8;
  const auto x = torch::rand({48, 3}, torch::kFloat64), y = x.sum(1, true).cos();
  torch::nn::Linear net(3, 1);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int64_t at = 0; at < 48; at += kRows) {
      auto error = (net->forward(x.slice(0, at, at + kRows)) - y.slice(0, at, at + kRows)).pow(2).mean();
      optimizer.zero_grad();
      error.backward();
      optimizer.step();
      std::printf("%.9f\n", error.item<double>());
    }
  return 0;
}
