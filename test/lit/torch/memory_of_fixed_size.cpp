// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A tensor over memory with as many numbers as the program says: its rows cannot become more, so the batch stays as large as it is.
#include <torch/torch.h>

#include <vector>

constexpr int kSide = 6;

int main() {
  double numbers[72];
  std::vector<double> targets(36);
  for (int i = 0; i < 72; ++i) numbers[i] = 0.1 * (i % 7);
  for (int i = 0; i < 36; ++i) targets[i] = 0.2 * (i % 5);
  // CHECK-NOT: global_batch_size
  auto x = torch::from_blob(numbers, {kSide * kSide, 2}, torch::kDouble).clone();  // says: HVD2010
  torch::nn::Linear net(2, 1);
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int step = 0; step < 5; ++step) {
    auto y = torch::from_blob(targets.data(), {kSide * kSide}, torch::kDouble);
    auto loss = torch::mse_loss(net->forward(x).squeeze(1), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
