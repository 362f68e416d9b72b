// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- finish.h
// CHECK: inline void finish(NormNet& net) {
// CHECK: hvd::sync_buffers(net);
// CHECK: net->eval();
#pragma once
#include "norm.h"
inline hvd::Tensor classes(NormNet& net, const hvd::Tensor& x) { return net(x).argmax(1); }
inline void finish(NormNet& net) { net->eval(); }
//--- use.h
#pragma once
#include "norm.h"
inline hvd::Tensor classes(NormNet& net, const hvd::Tensor& x) { return net(x).argmax(1); }
//--- used.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

#include "use.h"

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: net->eval();
// CHECK-NEXT: return classes(net, hvd::zeros({1, 1, 7, 7})).size(0) == 1 ? 0 : 1;
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  net->eval();
  return classes(net, hvd::zeros({1, 1, 7, 7})).size(0) == 1 ? 0 : 1;
}
//--- changed.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

#include "finish.h"

int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  finish(net);
}
