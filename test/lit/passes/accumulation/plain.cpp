// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- every_second.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK-NOT: hvd::overlap
// CHECK: (hvd::weighted(loss_of(net, batch) / 2.0, hvd::LossKind::mean)).backward();
// CHECK-NEXT: if (++n % 2 == 0) {
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    (loss_of(net, batch) / 2.0).backward();
    if (++n % 2 == 0) {
      opt.step();
      opt.zero_grad();
    }
  }
}
//--- two_losses.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK-NOT: hvd::overlap
// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::weighted(net(batch.data).pow(2).mean(), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    net(batch.data).pow(2).mean().backward();
    opt.step();
  }
}
//--- micro_batches.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (int64_t k = 0; k < 20; k += rows) {
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK: net(hvd::shard(xb.slice(0, k, k + rows)))
// CHECK: hvd::reduce_gradients(opt);
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  const int64_t rows = 5;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int64_t i = 0; i < 40; i += 20) {
    const auto xb = x.slice(0, i, i + 20), yb = y.slice(0, i, i + 20);
    opt.zero_grad();
    for (int64_t k = 0; k < 20; k += rows) {
      hvd::nn::functional::cross_entropy(net(xb.slice(0, k, k + rows)), yb.slice(0, k, k + rows)).backward();
    }
    opt.step();
  }
}
