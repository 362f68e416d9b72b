// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- relative.cpp
// HVDIZE: --warmup=100
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::Session hvd_session(hvd::Policy().warmup_steps(100));
// CHECK: hvd::optim::StepLR schedule(opt, 3, 0.1);
// CHECK: schedule.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::optim::StepLR schedule(opt, 3, 0.1);
  for (int epoch = 0; epoch < 4; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    schedule.step();
  }
}
//--- absolute_end.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::optim::CosineAnnealingLR schedule(opt, 40, hvd::scaled_lr(0.001));
// CHECK: hvd::optim::CosineAnnealingLR to_zero(opt, 40, 0);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::optim::CosineAnnealingLR schedule(opt, 40, 0.001);
  hvd::optim::CosineAnnealingLR to_zero(opt, 40, 0);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  schedule.step();
}
//--- by_hand.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: double lr = hvd::scaled_lr(0.1);
// CHECK: if (epoch % 2 == 1) lr *= 0.5;
// CHECK-NEXT: opt.set_lr(lr);
int main() {
  double lr = 0.1;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 4; ++epoch) {
    if (epoch % 2 == 1) lr *= 0.5;
    opt.set_lr(lr);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
//--- table.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: const double rates[] = {hvd::scaled_lr(0.1), hvd::scaled_lr(0.01), hvd::scaled_lr(0.001)};
// CHECK: opt.set_lr(rates[epoch]);
int main() {
  const double rates[] = {0.1, 0.01, 0.001};
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(rates[epoch]);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
}
