// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: if (limit > 0) hvd::nn::utils::clip_grad_norm_(net->parameters(), limit);
// CHECK-NEXT: opt.step();
struct Trainer {
  explicit Trainer(double limit) : limit(limit), opt(net->parameters(), 0.1) {}
  void step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    if (limit > 0) hvd::nn::utils::clip_grad_norm_(net->parameters(), limit);
    opt.step();
  }
  double limit;
  Net net;
  hvd::optim::SGD opt;
};

int main() {
  Trainer trainer(1.0);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) trainer.step(batch);
}
