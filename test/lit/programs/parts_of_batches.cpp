// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Parts of all data, and one step behind them: what ends the parts is no size of a batch, so nothing may grow.

#include <hvd/hvd.hpp>

// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
// CHECK-NOT: global_batch_size
int main() {
  hvd::nn::Linear net(5, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const auto x = hvd::randn({50, 5}), y = hvd::randn({50, 1});
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.zero_grad();
    for (int at = 0; at < 50; at += 10) {  // says: HVD2010
      auto loss = hvd::nn::functional::mse_loss(net->forward(x.slice(0, at, at + 10)), y.slice(0, at, at + 10));
      loss.backward();
    }
    opt.step();
  }
}
