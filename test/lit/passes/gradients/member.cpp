// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::weighted(loss_of(*net_, batch), hvd::LossKind::mean).backward();
// CHECK: hvd::reduce_gradients(opt_);
// CHECK-NEXT: opt_->step();
struct Trainer {
  Trainer(Net& net, hvd::optim::Optimizer& opt) : net_(&net), opt_(&opt) {}
  void back(const hvd::data::Batch& batch) {
    opt_->zero_grad();
    loss_of(*net_, batch).backward();
  }
  void update() {
    opt_->step();
  }
  Net* net_;
  hvd::optim::Optimizer* opt_;
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Trainer trainer(net, opt);
  for (auto& batch : *loader) {
    trainer.back(batch);
    trainer.update();
  }
}
