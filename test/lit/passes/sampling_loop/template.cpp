// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (T i = 0; i < 40; i += rows) {
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK: net(hvd::shard(x.slice(0, i, i + rows)))
template <class T, class Model>
void train(Model& net, hvd::optim::Optimizer& opt, const hvd::Tensor& x, const hvd::Tensor& y, T rows) {
  for (T i = 0; i < 40; i += rows) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(x.slice(0, i, i + rows)), y.slice(0, i, i + rows)).backward();
    opt.step();
  }
}

int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  train<int64_t>(net, opt, x, y, 10);
  train<int>(net, opt, x, y, 10);
}
