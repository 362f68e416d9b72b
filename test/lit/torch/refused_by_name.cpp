// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Rows of several batches in a map that lives on: what is read there later had a slice of its own.

//--- program.h
#include <torch/torch.h>

#include <map>
#include <unordered_map>

#define STEPS                                        \
  torch::nn::Linear net(3, 1);                       \
  auto x = torch::randn({40, 3}), y = torch::randn({40, 1}); \
  torch::optim::SGD optimizer(net->parameters(), 0.1);
#define LEARN          \
  optimizer.zero_grad(); \
  loss.backward();     \
  optimizer.step();

//--- outputs.cpp
// form: outputs of a step, put into a map that lives on by insert_or_assign, and looked up by a later one
#include "program.h"
int main() {
  STEPS
  std::unordered_map<int64_t, torch::Tensor> past;
  for (int64_t i = 0; i < 40; i += 8) {
    auto out = net->forward(x.slice(0, i, i + 8));
    auto loss = torch::mse_loss(out, y.slice(0, i, i + 8));
    if (past.count(i - 8)) loss = loss + torch::mse_loss(out, past.at(i - 8));
    LEARN
    past.insert_or_assign(i, out.detach());  // refused: HVD3012
    // says: rows of this batch are kept beside those of earlier ones
  }
}

//--- cache.cpp
// form: batches kept in a map by an iterator of find() and emplace()
#include "program.h"
int main() {
  STEPS
  std::map<int64_t, torch::Tensor> cache;
  for (int64_t i = 0; i < 40; i += 8) {
    auto part = x.slice(0, i, i + 8);
    auto at = cache.find(i);
    if (at == cache.end()) at = cache.emplace(i, part * 2).first;  // refused: HVD3012
    // says: rows of this batch are kept beside those of earlier ones
    auto loss = torch::mse_loss(net->forward(at->second), y.slice(0, i, i + 8));
    LEARN
  }
}
