// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_loop.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::nn::functional::cross_entropy(net(x), y).backward();  // refused: HVD3021
  opt.step();
}
//--- single_sample_read.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += rows) {
    auto xb = x.slice(0, i, i + rows);
    opt.zero_grad();
    auto first = net(xb)[0];
    first.pow(2).mean().backward();  // refused: HVD3010
    opt.step();
  }
}
