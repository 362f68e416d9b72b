// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- slices.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (int64_t i = 0; i < 40; i += rows) {
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK-NEXT: auto xb = hvd::shard(x.slice(0, i, std::min<int64_t>(i + rows, 40)));
// CHECK-NEXT: auto yb = hvd::shard(y.slice(0, i, std::min<int64_t>(i + rows, 40)));
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    auto xb = x.slice(0, i, std::min<int64_t>(i + rows, 40));
    auto yb = y.slice(0, i, std::min<int64_t>(i + rows, 40));
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(xb), yb).backward();
    opt.step();
  }
}
//--- permutation.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::StepScope hvd_step;
// CHECK-NEXT: auto chosen = hvd::shard(order.slice(0, i, std::min<int64_t>(i + rows, 40)));
// CHECK-NEXT: opt.zero_grad();
// CHECK-NEXT: auto loss = hvd::nn::functional::cross_entropy(net(x.index_select(0, chosen)), y.index_select(0, chosen));
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const auto order = hvd::randperm(40);
  for (int64_t i = 0; i < 40; i += rows) {
    auto chosen = order.slice(0, i, std::min<int64_t>(i + rows, 40));
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(x.index_select(0, chosen)), y.index_select(0, chosen));
    loss.backward();
    opt.step();
  }
}
//--- drawn.cpp
// HVDIZE: --batch=global
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::StepScope hvd_step;
// CHECK-NEXT: auto x = hvd::whole_draw().shard(hvd::randn({hvd::global_batch_size(16), 8}));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    auto x = hvd::randn({16, 8});
    opt.zero_grad();
    net(x).pow(2).mean().backward();
    opt.step();
  }
}
