// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// One constant for the size of a batch and for a number of classes, and one for a rate and for a momentum: the second meaning of either does not
// follow the number of ranks.
//--- classes.cpp
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iostream>

constexpr int64_t kEight = 8;

// CHECK: int main() {
// CHECK-NEXT: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
int main() {
  auto x = torch::randn({49, 8}, torch::kDouble), y = x.argmax(1);
  // CHECK: auto table = torch::randn({kEight, 3}, torch::kDouble);
  auto table = torch::randn({kEight, 3}, torch::kDouble);  // says: HVD2010
  torch::nn::Linear net(8, 3);
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int64_t i = 0; i < 49; i += kEight) {
    auto bx = x.slice(0, i, std::min(i + kEight, int64_t{49})), by = y.slice(0, i, std::min(i + kEight, int64_t{49}));
    // CHECK: torch::one_hot(by, kEight).sum(0)
    auto classes = torch::one_hot(by, kEight).sum(0);
    auto loss = (net(bx) - table.index_select(0, by)).pow(2).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    std::cout << classes << "\n";
  }
}

//--- rate.cpp
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iostream>

constexpr double kTenth = 0.1;

int main() {
  auto x = torch::randn({49, 4}, torch::kDouble), y = x.sum(1, true);
  torch::nn::Linear net(4, 1), average(4, 1);
  net->to(torch::kDouble);
  average->to(torch::kDouble);
  // CHECK: torch::optim::SGDOptions(hvd::scaled_lr(kTenth)).momentum(kTenth));
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(kTenth).momentum(kTenth));  // says: HVD2016
  for (int64_t i = 0; i < 49; i += 8) {
    auto loss = torch::mse_loss(net(x.slice(0, i, i + 8)), y.slice(0, i, i + 8));
    opt.zero_grad();
    loss.backward();
    opt.step();
    torch::NoGradGuard no_grad;
    // CHECK: average->weight.mul_(1 - kTenth).add_(net->weight, kTenth);
    average->weight.mul_(1 - kTenth).add_(net->weight, kTenth);
  }
  std::cout << average->weight << "\n";
}
