// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Gradients of two models are clipped before either optimizer steps: each is reduced before its own are read.
//--- both.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::reduce_gradients(two);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(second->parameters(), 1.0);
// CHECK-NEXT: hvd::reduce_gradients(one);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(first->parameters(), 1.0);
// CHECK-NEXT: one.step();
// CHECK-NEXT: two.step();
int main() {
  Net first, second;
  hvd::optim::SGD one(first->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::SGD two(second->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    one.zero_grad();
    two.zero_grad();
    auto loss = loss_of(first, batch) + loss_of(second, batch);
    loss.backward();
    hvd::nn::utils::clip_grad_norm_(second->parameters(), 1.0);
    hvd::nn::utils::clip_grad_norm_(first->parameters(), 1.0);
    one.step();
    two.step();
  }
}
//--- together.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::reduce_gradients(one);
// CHECK-NEXT: hvd::reduce_gradients(two);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(all, 1.0);
// CHECK-NEXT: one.step();
// CHECK-NEXT: two.step();
int main() {
  Net first, second;
  hvd::optim::SGD one(first->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::SGD two(second->parameters(), hvd::optim::SGDOptions(0.1));
  auto all = first->parameters();
  for (auto& p : second->parameters()) all.push_back(p);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    one.zero_grad();
    two.zero_grad();
    auto loss = loss_of(first, batch) + loss_of(second, batch);
    loss.backward();
    hvd::nn::utils::clip_grad_norm_(all, 1.0);
    one.step();
    two.step();
  }
}
