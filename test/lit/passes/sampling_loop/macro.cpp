// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define KEEP(...) __VA_ARGS__

// CHECK: net(hvd::shard(KEEP(x.slice(0, i, i + rows))))
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(KEEP(x.slice(0, i, i + rows))), KEEP(y.slice(0, i, i + rows))).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define ANSWER(t) net((t).slice(0, i, i + rows))

int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(ANSWER(x), y.slice(0, i, i + rows)).backward();  // refused: HVD3001
    opt.step();
  }
}
