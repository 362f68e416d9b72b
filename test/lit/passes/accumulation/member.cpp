// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK-NOT: hvd::overlap
// CHECK: (hvd::weighted(loss_of(net, batch) / every, hvd::LossKind::mean)).backward();
// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
struct Trainer {
  explicit Trainer(int every) : every(every), opt(net->parameters(), 0.1) {}
  void feed(const hvd::data::Batch& batch) {
    (loss_of(net, batch) / every).backward();
    if (++seen % every != 0) return;
    opt.step();
    opt.zero_grad();
  }
  int every, seen = 0;
  Net net;
  hvd::optim::SGD opt;
};

int main() {
  Trainer trainer(4);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) trainer.feed(batch);
}
