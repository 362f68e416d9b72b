// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Losses in a variant, called by std::visit; rows that a loop changes one by one, each as a random number says.
//--- losses.cpp
#include <torch/torch.h>

#include <variant>

int main(int argc, char**) {
  torch::manual_seed(3);
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  std::variant<torch::nn::MSELoss, torch::nn::L1Loss> criterion = torch::nn::MSELoss();
  if (argc > 1) criterion = torch::nn::L1Loss();
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 44; at += 8) {
    auto out = net(x.slice(0, at, at + 8)), target = y.slice(0, at, at + 8);
    // CHECK: auto loss = std::visit([&](auto& c) { return c(out, target); }, criterion);
    auto loss = std::visit([&](auto& c) { return c(out, target); }, criterion);
    optimizer.zero_grad();
    // CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
    loss.backward();
    optimizer.step();
  }
}
//--- sum_or_mean.cpp
#include <torch/torch.h>

#include <variant>

int main(int argc, char**) {
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  std::variant<torch::nn::MSELoss, torch::nn::L1Loss> criterion = torch::nn::MSELoss(torch::nn::MSELossOptions().reduction(torch::kSum));
  if (argc > 1) criterion = torch::nn::L1Loss();
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 44; at += 8) {
    auto out = net(x.slice(0, at, at + 8)), target = y.slice(0, at, at + 8);
    auto loss = std::visit([&](auto& c) { return c(out, target); }, criterion);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
//--- flipped.cpp
#include <torch/torch.h>

int main() {
  torch::manual_seed(3);
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 44; at += 8) {
    auto in = x.slice(0, at, at + 8).clone();
    for (int64_t r = 0; r < in.size(0); ++r)
      // CHECK: if (hvd::whole_draw().keep(torch::rand({1})).item<float>() < 0.5) in[r] = in[r].flip(0);
      if (torch::rand({1}).item<float>() < 0.5) in[r] = in[r].flip(0);
    // CHECK: auto loss = torch::mse_loss(net(hvd::shard(in)), hvd::shard(y.slice(0, at, at + hvd::global_batch_size(8))));
    auto loss = torch::mse_loss(net(in), y.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
//--- every_second.cpp
#include <torch/torch.h>

int main() {
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 44; at += 8) {
    auto in = x.slice(0, at, at + 8).clone();
    // CHECK: for (int64_t r = 0; r < in.size(0); ++r)
    for (int64_t r = 0; r < in.size(0); ++r)
      if (r % 2 == 0) in[r] = in[r].flip(0);
    // CHECK: auto loss = torch::mse_loss(net(hvd::shard(in)), hvd::shard(y.slice(0, at, at + hvd::global_batch_size(8))));
    auto loss = torch::mse_loss(net(in), y.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
//--- every_second_of_a_part.cpp
// The second of this rank's rows is another one than the second of the batch.
#include <torch/torch.h>

int main() {
  auto x = torch::rand({44, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 44; at += 8) {
    auto rows = x.slice(0, at, at + 8);
    auto in = rows * 2;
    for (int64_t r = 0; r < in.size(0); ++r)
      if (r % 2 == 0) in[r] = in[r].flip(0);  // refused: HVD3012
    auto loss = torch::mse_loss(net(in), y.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
