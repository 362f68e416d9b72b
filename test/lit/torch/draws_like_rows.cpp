// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Random numbers in the shape of rows that are not those of the batch in its order: no piece of a draw for the whole batch fits them. Every
// rank draws its own, which is said.
//--- program.h
#pragma once
#include <torch/torch.h>

#include <algorithm>

inline torch::Tensor xs = torch::ones({36, 4}), ys = torch::arange(36).remainder(3);

//--- of_two_tensors.cpp
#include "program.h"

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = xs.slice(0, at, at + 8);
    auto both = torch::cat({x, -x});
    // CHECK: {{^}}    auto noisy = both + 0.1 * torch::randn_like(both);
    auto noisy = both + 0.1 * torch::randn_like(both);  // says: HVD2006
    // CHECK: auto twice = x.repeat_interleave(2, 0), shaken = twice + hvd::whole_draw().shard(torch::rand_like(hvd::global_like(twice)));
    auto twice = x.repeat_interleave(2, 0), shaken = twice + torch::rand_like(twice);
    auto loss = torch::mse_loss(net(noisy), both) + torch::mse_loss(net(shaken), twice);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
//--- of_some_samples.cpp
#include "program.h"

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t at = 0; at < 36; at += 8) {
    auto hit = ys.slice(0, at, at + 8).eq(1);
    auto some = net(xs.slice(0, at, at + 8)).index({hit});
    // CHECK: {{^}}    auto noise = torch::rand_like(some), more = torch::empty_like(some).uniform_(0, 1);
    auto noise = torch::rand_like(some), more = torch::empty_like(some).uniform_(0, 1);  // says: HVD2006
    auto loss = (some * noise * more).sum() / std::max<int64_t>(1, hit.sum().item<int64_t>());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
