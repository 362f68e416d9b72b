// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A helper that draws a batch serves training and evaluation: only the training's batch size is the one to scale.
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

// CHECK: return hvd::whole_draw().shard(hvd::randn({rows, 8}))
hvd::Tensor drawn(int rows) { return hvd::randn({rows, 8}); }

void train(Net& net, int rows) {
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int i = 0; i < 8; ++i) {
    opt.zero_grad();
    auto x = drawn(rows);
    hvd::nn::functional::mse_loss(net->forward(x), x.sum(1, true)).backward();
    opt.step();
  }
}

void show(Net& net, int rows) {
  auto y = net->forward(drawn(rows));
  for (int i = 0; i < rows; ++i) std::printf("%f\n", y[i].item<double>());
}

// CHECK: train(net, hvd::global_batch_size(12));
// CHECK: show(net, 5);
int main() {
  Net net;
  train(net, 12);
  show(net, 5);
}
