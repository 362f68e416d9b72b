// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// HVDIZE: --steps=divide
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include "parts.h"

void learn(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  opt.zero_grad();
  auto loss = hvd::nn::functional::mse_loss(net(x), y);
  loss.backward();
  opt.step();
}

// Where a batch is cut with its size apart from where it begins, what moves on to the next one is that size as well.
// CHECK-LABEL: void counted
// CHECK: for (int64_t at = 0, k = 0; at < 51; at += hvd::global_batch_size(8), ++k)
// CHECK: x.narrow(0, at, std::min<int64_t>(hvd::global_batch_size(8), 51 - at))
void counted(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  for (int64_t at = 0, k = 0; at < 51; at += 8, ++k) {
    learn(net, opt, x.narrow(0, at, std::min<int64_t>(8, 51 - at)), y.narrow(0, at, std::min<int64_t>(8, 51 - at)));
    if (k % 2 == 0) std::cout << k << "\n";
  }
}

// CHECK-LABEL: void moved
// CHECK: while (at + hvd::global_batch_size(8) <= 51)
// CHECK: at = at + hvd::global_batch_size(8);
void moved(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  int64_t at = 0;
  while (at + 8 <= 51) {
    learn(net, opt, x.narrow(0, at, 8), y.narrow(0, at, 8));
    at = at + 8;
  }
}

// The number of the batch, and how many there are.
// CHECK-LABEL: void numbered
// CHECK: const int64_t batches = hvd::whole_batches(rows, hvd::global_batch_size(8));
// CHECK: std::cout << at / hvd::global_batch_size(8) << "/" << batches
void numbered(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  const int64_t rows = 48;
  const int64_t batches = rows / 8;
  for (int64_t at = 0; at < rows; at += 8) {
    learn(net, opt, x.slice(0, at, at + 8), y.slice(0, at, at + 8));
    std::cout << at / 8 << "/" << batches << "\n";
  }
}

// Sizes that a list gives, one after another.
// CHECK-LABEL: void listed
// CHECK: x.slice(0, at, at + hvd::global_batch_size(n))
// CHECK: at += hvd::global_batch_size(n);
void listed(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y, const std::vector<int64_t>& sizes) {
  int64_t at = 0;
  for (int64_t n : sizes) {
    learn(net, opt, x.slice(0, at, at + n), y.slice(0, at, at + n));
    at += n;
  }
}

// A list of where the batches begin, filled in steps of their size.
// CHECK-LABEL: void begun
// CHECK: for (int64_t at = 0; at < 51; at += hvd::global_batch_size(8)) begins.push_back(at);
// CHECK: x.slice(0, at, at + hvd::global_batch_size(8))
void begun(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  std::vector<int64_t> begins;
  for (int64_t at = 0; at < 51; at += 8) begins.push_back(at);
  for (int64_t at : begins) learn(net, opt, x.slice(0, at, at + 8), y.slice(0, at, at + 8));
}

// Batches that grow up to a size of the program.
// CHECK-LABEL: void grown
// CHECK: for (int64_t batch = 4; batch <= 16; batch *= 2)
// CHECK: at += hvd::global_batch_size(batch)
// CHECK: int64_t size = hvd::global_batch_size(4);
// CHECK: size = std::min<int64_t>(size * 2, hvd::global_batch_size(16));
void grown(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  for (int64_t batch = 4; batch <= 16; batch *= 2)
    for (int64_t at = 0; at < 51; at += batch) learn(net, opt, x.slice(0, at, at + batch), y.slice(0, at, at + batch));
  int64_t size = 4;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < 51; at += size) learn(net, opt, x.slice(0, at, at + size), y.slice(0, at, at + size));
    size = std::min<int64_t>(size * 2, 16);
  }
}

// What a call leaves out is given by the declaration: of sizes and of rates.
// CHECK: void usual({{.*}}, int64_t batch = hvd::global_batch_size(8)) {
// CHECK: for (int64_t at = 0; at < 51; at += batch)
// CHECK: hvd::optim::SGD made(Net& net, double rate = hvd::scaled_lr(0.05))
void usual(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y, int64_t batch = 8) {
  for (int64_t at = 0; at < 51; at += batch) learn(net, opt, x.slice(0, at, at + batch), y.slice(0, at, at + batch));
}

hvd::optim::SGD made(Net& net, double rate = 0.05) { return hvd::optim::SGD(net->parameters(), hvd::optim::SGDOptions(rate)); }

// A member that is made from itself is scaled where it is used.
// CHECK-LABEL: struct Grower
// CHECK: at += hvd::global_batch_size(size)
// CHECK: size = std::min<int64_t>(size * 2, 16);
struct Grower {
  int64_t size = 4;
  void operator()(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
    for (int64_t at = 0; at < 51; at += size) learn(net, opt, x.slice(0, at, at + size), y.slice(0, at, at + size));
    size = std::min<int64_t>(size * 2, 16);
  }
};

// The data end this loop, not a number of steps: nothing is said of one.
// CHECK-LABEL: void ended
// CHECK: for (int64_t k = 0; k * batch < 51; ++k)
void ended(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  const int64_t batch = 8;
  for (int64_t k = 0; k * batch < 51; ++k) learn(net, opt, x.slice(0, k * batch, k * batch + batch), y.slice(0, k * batch, k * batch + batch));
}

// What follows from the size is not scaled once more.
// CHECK-LABEL: void parts
// CHECK: const int64_t batch = hvd::global_batch_size(8), part = batch / 2;
void parts(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  const int64_t batch = 8, part = batch / 2;
  for (int64_t at = 0; at + batch <= 51; at += batch) {
    opt.zero_grad();
    for (int64_t k = at; k < at + batch; k += part) {
      auto loss = hvd::nn::functional::mse_loss(net(x.slice(0, k, k + part)), y.slice(0, k, k + part)) / (batch / part);
      loss.backward();
    }
    opt.step();
  }
}

// A number of steps that is written in the program is divided on request, whatever else is counted beside it.
// CHECK: step < hvd::scaled_steps(20); ++step, ++seen
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto second = made(net), third = made(net, 0.2);
  auto x = hvd::randn({51, 8}), y = hvd::randn({51, 3});
  counted(net, opt, x, y);
  moved(net, opt, x, y);
  numbered(net, opt, x, y);
  listed(net, opt, x, y, {4, 8, 12});
  begun(net, opt, x, y);
  grown(net, opt, x, y);
  usual(net, opt, x, y);
  usual(net, second, x, y, 4);
  usual(net, third, x, y);
  Grower grower;
  grower(net, opt, x, y);
  grower(net, opt, x, y);
  ended(net, opt, x, y);
  parts(net, opt, x, y);
  int seen = 0;
  for (int step = 0; step < 20; ++step, ++seen) learn(net, opt, hvd::randn({8, 8}), hvd::randn({8, 3}));
  std::cout << seen << "\n";
}
