// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Loops over the rows of a batch whose result is no sum over the samples: the number of a row, other rows, or what was added up before is part of it.
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <vector>

static void pairs(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i)
      for (int64_t j = 0; j < out.size(0); ++j) loss = loss + (out[i] - out[j]).pow(2).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void byNumber(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) loss = loss + std::pow(0.9, i) * out[i].sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void notTheFirst(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 1; i < out.size(0); ++i) loss = loss + out[i].sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void faded(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) loss = 0.9 * loss + out[i].sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void some(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) {
      if (i > 3) break;
      loss = loss + out[i].sum();
    }
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void drawn(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) loss = loss + torch::dropout(out[i], 0.5, true).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void chosen(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  auto table = torch::linspace(0.5, 1.5, 64);
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) loss = loss + table[i] * out[i].sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void neighbours(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i + 1 < out.size(0); ++i) loss = loss + (out[i + 1] - out[i]).pow(2).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

static void sofar(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) {
      loss = loss + out[i].sum();
      loss = loss + (loss > 3).to(torch::kFloat);
    }
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

// Some of the terms are divided by the number of rows, and others are not.
static void uneven(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) {
      loss = loss + out[i].sum() / out.size(0);
      loss = loss + out[i].pow(2).sum();
    }
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

// The rows of two batches, one twice as long as the other: those of a rank do not belong together.
static void besideAnother(torch::nn::Linear& net, torch::optim::SGD& optimizer, int64_t batch) {
  auto xs = torch::ones({36, 4}), others = torch::ones({72, 4});
  for (int64_t at = 0; at < 36; at += batch) {
    auto out = net(xs.slice(0, at, at + batch)), second = others.slice(0, 2 * at, 2 * at + 2 * batch);
    auto loss = torch::zeros({});
    for (int64_t i = 0; i < out.size(0); ++i) loss = loss + (out[i] - second[i]).pow(2).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

// A list of some of the rows only: its mean is not one over the samples.
static void leftOut(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    std::vector<torch::Tensor> losses;
    for (int64_t i = 0; i < out.size(0); ++i) {
      if (out[i][0].item<float>() < 0) continue;
      losses.push_back(out[i].pow(2).sum());
    }
    auto loss = torch::stack(losses).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

// One behind another, the numbers of a row are rows of their own.
static void flattened(torch::nn::Linear& net, torch::optim::SGD& optimizer) {
  auto xs = torch::ones({36, 4});
  for (int64_t at = 0; at < 36; at += 8) {
    auto out = net(xs.slice(0, at, at + 8));
    std::vector<torch::Tensor> rows;
    for (int64_t i = 0; i < out.size(0); ++i) rows.push_back(out[i]);
    auto loss = torch::cat(rows).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

int main(int, char** argv) {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  pairs(net, optimizer);
  byNumber(net, optimizer);
  notTheFirst(net, optimizer);
  faded(net, optimizer);
  some(net, optimizer);
  drawn(net, optimizer);
  chosen(net, optimizer);
  neighbours(net, optimizer);
  sofar(net, optimizer);
  uneven(net, optimizer);
  besideAnother(net, optimizer, std::atoi(argv[1]));
  leftOut(net, optimizer);
  flattened(net, optimizer);
}
