// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// One loop cuts its batches with a size that is written here, the other one gets what was cut before: a size that is multiplied in one of them must
// be in both.

#include <hvd/hvd.hpp>

#include <vector>

struct Batch {
  hvd::Tensor x, y;
};

// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
// CHECK-NOT: global_batch_size
int main() {
  hvd::nn::Linear net(5, 1);
  // CHECK: hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const auto x = hvd::randn({50, 5}), y = hvd::randn({50, 1});
  std::vector<Batch> batches;
  for (int i = 0; i < 5; ++i) batches.push_back({x.slice(0, 10 * i, 10 * i + 10), y.slice(0, 10 * i, 10 * i + 10)});
  for (int i = 0; i < 50; i += 10) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(x.slice(0, i, i + 10)), y.slice(0, i, i + 10));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  for (const auto& batch : batches) {  // says: HVD2010
    auto loss = hvd::nn::functional::mse_loss(net->forward(batch.x), batch.y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
