// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a batch that is a part of the data, changed in place
// What is changed is a part of a tensor that lives longer than the step: a rank would change its own rows of it only.
#include <torch/torch.h>

#include <iostream>
#include <vector>

struct Kept {
  torch::Tensor xs = torch::ones({36, 4}), ys = torch::ones({36, 4}), guesses = torch::zeros({36, 4});
  std::vector<torch::Tensor> lots;
};

static void step(torch::optim::SGD& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

static void shrinks(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < kept.xs.size(0); at += 8) {
    auto x = kept.xs.slice(0, at, std::min<int64_t>(at + 8, kept.xs.size(0)));
    x.mul_(0.9);  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(x), kept.ys.slice(0, at, at + 8)));
  }
  std::cout << kept.xs.sum().item<float>() << '\n';
}

static torch::Tensor cut(const torch::Tensor& of, int64_t at) { return of.narrow(0, at, 6); }

static void remembers(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 6) {
    auto place = cut(kept.guesses, at);
    auto out = net(cut(kept.xs, at));
    place.copy_(out.detach());  // refused: HVD3012
    step(optimizer, torch::mse_loss(out, cut(kept.ys, at)));
  }
  std::cout << kept.guesses.mean().item<float>() << '\n';
}

static void byColumn(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = kept.xs.index({torch::indexing::Slice(at, at + 8)});
    x.select(1, 2).clamp_(-1, 1);  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(x), kept.ys.slice(0, at, at + 8)));
  }
}

// On one device `to` gives the same tensor again, and the data is looked at as a whole.
static void onDevice(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer, torch::Device device) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = kept.xs.slice(0, at, at + 8).to(device);
    x += 0.1 * torch::tanh(x);  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(x), kept.ys.slice(0, at, at + 8)));
  }
  std::cout << net(kept.xs).sum().item<float>() << '\n';
}

// What a reference to an item is given, the list has in the next epoch.
static void item(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (size_t i = 0; i < kept.lots.size(); ++i) {
    auto& x = kept.lots[i];
    x = 0.9 * x;  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(x), kept.lots[i]));
  }
}

// Copies may be changed.
static void copies(Kept& kept, torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto order = torch::randperm(36);
  for (int64_t at = 0; at < 36; at += 8) {
    auto rows = order.slice(0, at, at + 8);
    auto x = kept.xs.index_select(0, rows);
    auto y = kept.ys.slice(0, at, at + 8).clone();
    auto z = kept.xs.index({rows});
    x.mul_(0.9);
    y.add_(1);
    z[0] = z[0] * 0 + 1;  // refused: HVD3012
    step(optimizer, torch::mse_loss(net(x + z), y));
  }
}

int main() {
  Kept kept;
  kept.lots = kept.xs.split(6);
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  shrinks(kept, net, optimizer);
  remembers(kept, net, optimizer);
  byColumn(kept, net, optimizer);
  onDevice(kept, net, optimizer, torch::kCPU);
  item(kept, net, optimizer);
  copies(kept, net, optimizer);
}
