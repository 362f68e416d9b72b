// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: new tensors with a row for each sample that a mask selects, by a count
// How many samples a mask selects is counted over the whole batch; a rank that makes so many rows has more of them than it has selected.
#include <torch/torch.h>

#include <algorithm>

torch::Tensor xs = torch::ones({36, 4}), ys = torch::arange(36).remainder(3);

void step(torch::optim::SGD& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

// With one hit on each rank of three, one row less three rows would be three rows.
void targets(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto hit = ys.slice(0, at, at + 8).eq(1);
    const auto hits = hit.sum().item<int64_t>();
    auto loss = torch::mse_loss(net(xs.slice(0, at, at + 8)).index({hit}), torch::zeros({hits, 4}), torch::Reduction::Sum) / std::max<int64_t>(1, hits);  // refused: HVD3012
    step(optimizer, loss);
  }
}

void counted(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto hit = ys.slice(0, at, at + 8).eq(1);
    const auto hits = hit.sum().item<int64_t>();
    auto first = net(xs.slice(0, at, at + 8)).select(1, 0).index({hit});
    auto loss = (first * torch::arange(2 * hits - 1, -1, -2)).sum() / std::max<int64_t>(1, hits);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

void changed(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  for (int64_t at = 0; at < 36; at += 8) {
    auto x = xs.slice(0, at, at + 8).clone(), y = ys.slice(0, at, at + 8);
    auto hit = y.eq(1);
    const int64_t some = std::max<int64_t>(1, hit.sum().item<int64_t>());
    x.index_put_({hit}, torch::randn({some, 4}));  // refused: HVD3012
    auto loss = torch::mse_loss(net(x), x);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  targets(net, optimizer);
  counted(net, optimizer);
  changed(net, optimizer);
}
