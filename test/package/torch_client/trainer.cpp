// SPDX-License-Identifier: Apache-2.0
#include "model.h"

int main() {
  torch::manual_seed(1);
  auto x = torch::randn({60, 4}, torch::kDouble), y = x.sum(1, true).sin();
  Net net;
  net.to(torch::kDouble);
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(1e-2));
  std::cout.precision(10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto order = torch::randperm(60, torch::kLong);
    double total = 0;
    for (int64_t start = 0; start < 60; start += 16) {
      auto rows = order.slice(0, start, std::min<int64_t>(start + 16, 60));
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net.forward(x.index_select(0, rows)), y.index_select(0, rows));
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * rows.size(0);
    }
    std::cout << "epoch " << epoch << " loss " << total / 60 << std::endl;
  }
  print_sums(net);
}
