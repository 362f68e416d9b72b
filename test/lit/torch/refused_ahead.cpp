// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Batches that are fetched in one step for the next: what a step trains on was cut with the slice of the step before.

//--- program.h
#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

struct Batch {
  torch::Tensor x, y;
  bool ok() const { return x.defined(); }
};

struct Source {
  torch::Tensor x = torch::randn({43, 3}), y = torch::randn({43, 1});
  int64_t at = 0;
  Batch next() {
    if (at >= 43) return {};
    const auto from = at;
    at = std::min<int64_t>(at + 8, 43);
    return {x.slice(0, from, at), y.slice(0, from, at)};
  }
  std::pair<torch::Tensor, torch::Tensor> pair(int64_t from) const { return {x.slice(0, from, std::min<int64_t>(from + 8, 43)), y.slice(0, from, std::min<int64_t>(from + 8, 43))}; }
  bool fill(torch::Tensor& a, torch::Tensor& b) {
    if (at >= 43) return false;
    const auto batch = next();
    a = batch.x;
    b = batch.y;
    return true;
  }
};

#define STEP(x, y)                                  \
  auto loss = torch::mse_loss(net->forward(x), y); \
  optimizer.zero_grad();

//--- pairs.cpp
// form: the next batch in a pair, fetched at the end of a step
#include "program.h"

int main() {
  Source source;
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto batch = source.pair(0);
  for (int64_t i = 0; i < 43; i += 8) {
    auto [x, y] = batch;
    STEP(x, y)
    loss.backward();  // refused: HVD3010
    optimizer.step();
    if (i + 8 < 43) batch = source.pair(i + 8);
  }
}

//--- every_second.cpp
// form: a batch in a pair, fetched in every second step
#include "program.h"

int main() {
  Source source;
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  std::pair<torch::Tensor, torch::Tensor> batch;
  for (int64_t i = 0; i < 43; i += 8) {
    if (i % 16 == 0) batch = source.pair(i);
    auto [x, y] = batch;
    STEP(x, y)
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- until_empty.cpp
// form: the next batch in a struct, until one is empty
#include "program.h"

int main() {
  Source source;
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto batch = source.next();
  while (batch.ok()) {
    STEP(batch.x, batch.y)
    loss.backward();  // refused: HVD3010
    optimizer.step();
    batch = source.next();
  }
}

//--- filled.cpp
// form: the next batch in two tensors that a function fills at the end of a step
#include "program.h"

int main() {
  Source source;
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::Tensor x, y;
  bool more = source.fill(x, y);
  while (more) {
    STEP(x, y)
    loss.backward();  // refused: HVD3010
    optimizer.step();
    more = source.fill(x, y);
  }
}

//--- swapped.cpp
// form: the next batch, swapped with the present one at the end of a step
#include "program.h"

int main() {
  Source source;
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto batch = source.pair(0), ahead = batch;
  for (int64_t i = 0; i < 43; i += 8) {
    if (i + 8 < 43) ahead = source.pair(i + 8);
    auto [x, y] = batch;
    STEP(x, y)
    loss.backward();  // refused: HVD3010
    optimizer.step();
    std::swap(batch, ahead);
  }
}
