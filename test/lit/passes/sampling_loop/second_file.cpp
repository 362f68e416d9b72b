// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- range.h
#pragma once
#include <algorithm>
#include <cstdint>
struct Range {
  int64_t first, last;
};
inline Range range_of(int64_t i, int64_t rows, int64_t all) { return {i, std::min(i + rows, all)}; }
//--- range.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "range.h"

// CHECK: hvd::StepScope hvd_step;
// CHECK: const auto r = range_of(i, rows, 40);
// CHECK: net(hvd::shard(x.slice(0, r.first, r.last)))
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    const auto r = range_of(i, rows, 40);
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(x.slice(0, r.first, r.last)), y.slice(0, r.first, r.last)).backward();
    opt.step();
  }
}
//--- cut.h
// CHECK: return hvd::shard(t.slice(0, i, i + rows));
#pragma once
#include <hvd/hvd.hpp>
inline hvd::Tensor cut(const hvd::Tensor& t, int64_t i, int64_t rows) {
  return t.slice(0, i, i + rows);
}
//--- cut.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "cut.h"

int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(cut(x, i, rows)), cut(y, i, rows)).backward();
    opt.step();
  }
}
