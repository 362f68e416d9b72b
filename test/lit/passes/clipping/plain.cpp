// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- norm.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::weighted(loss_of(net, batch), hvd::LossKind::mean).backward();
// CHECK-NEXT: hvd::reduce_gradients(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
// CHECK-NEXT: opt.step();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    opt.step();
  }
}
//--- value_and_norm.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: hvd::nn::utils::clip_grad_value_(net->parameters(), 0.5);
// CHECK-NEXT: const double norm = hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
// CHECK-NEXT: opt.step();
// CHECK-NEXT: if (hvd::is_root()) std::cout << norm << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    hvd::nn::utils::clip_grad_value_(net->parameters(), 0.5);
    const double norm = hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    opt.step();
    std::cout << norm << "\n";
  }
}
//--- own_function.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A function of the author's clips, without the optimizer: the gradients are whole before it is called.
// CHECK: hvd::reduce_gradients(opt);
// CHECK-NEXT: clip(net);
// CHECK-NEXT: opt.step();
void clip(Net& net) {
  hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    clip(net);
    opt.step();
  }
}
