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
