// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- overlap.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::overlap(net, opt);
// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- two_optimizers.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK-NOT: hvd::overlap
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
// CHECK-NEXT: hvd::reduce_gradients(second);
// CHECK-NEXT: second.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  Net other;
  hvd::optim::SGD second(other->parameters(), 0.1);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    second.zero_grad();
    auto loss = loss_of(net, batch) + loss_of(other, batch);
    loss.backward();
    opt.step();
    second.step();
  }
}
//--- read.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: for (auto& p : net->parameters()) {
// CHECK-NEXT: p.grad().mul_(0.5);
// CHECK: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    for (auto& p : net->parameters()) {
      p.grad().mul_(0.5);
    }
    opt.step();
  }
}
//--- unbraced.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK-NOT: hvd::overlap
// CHECK: if (++n % 2 == 0) {
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: opt.step();
// CHECK-NEXT: }
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();
    if (++n % 2 == 0) opt.step();
    if (n % 2 == 0) opt.zero_grad();
  }
}
//--- scaler.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A loss that is scaled keeps its kind. The scaler tests what the optimizer uses: the reduced gradients.
// CHECK: hvd::weighted(scaler.scale(loss), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: if (!scaler.step(opt)) ++left_out;
// CHECK-NEXT: scaler.update();
// CHECK: hvd::batch_mean(loss.item<double>())
// CHECK-SAME: scaler.get_scale()
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::amp::GradScaler scaler(hvd::amp::GradScalerOptions().init_scale(1024));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int left_out = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::Tensor loss;
    {
      hvd::amp::AutocastGuard autocast(hvd::kFloat16);
      loss = loss_of(net, batch);
    }
    scaler.scale(loss).backward();
    if (!scaler.step(opt)) ++left_out;
    scaler.update();
    std::cout << loss.item<double>() << " at " << scaler.get_scale() << ", " << left_out << std::endl;
  }
}
//--- scaler_two.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// Each optimizer's gradients are reduced before they are divided by the scale, and once.
// CHECK: hvd::weighted(scaler->scale(loss), hvd::LossKind::sum).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: scaler->unscale_(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
// CHECK-NEXT: scaler->step(opt);
// CHECK-NEXT: hvd::reduce_gradients(*second);
// CHECK-NEXT: scaler->step(*second);
// CHECK-NEXT: scaler->update();
int main() {
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto second = std::make_unique<hvd::optim::SGD>(other->parameters(), 0.1);
  auto scaler = std::make_unique<hvd::amp::GradScaler>();
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto summed = hvd::nn::CrossEntropyLossOptions().reduction(hvd::kSum);
  for (auto& batch : *loader) {
    opt.zero_grad();
    second->zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(batch.data) + other(batch.data), batch.target, summed);
    scaler->scale(loss).backward();
    scaler->unscale_(opt);
    hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    scaler->step(opt);
    scaler->step(*second);
    scaler->update();
  }
}
//--- comma.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// The reduction stands between the backward pass and the step, though both are in one statement.
// CHECK-NOT: hvd::overlap
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward(), (hvd::reduce_gradients(opt), opt.step());
// CHECK: for (int i = 0; i < 1; (hvd::reduce_gradients(opt), opt.step()), ++i)
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward(), opt.step();
    auto again = loss_of(net, batch);
    for (int i = 0; i < 1; opt.step(), ++i) again.backward();
  }
}
