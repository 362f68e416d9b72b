// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- losses.h
// CHECK: inline void back(const hvd::Tensor& loss) { hvd::weighted(loss, hvd::LossKind::sum).backward(); }
#pragma once
#include <hvd/hvd.hpp>
inline hvd::Tensor total(const hvd::Tensor& out) { return out.square().sum(); }
inline void back(const hvd::Tensor& loss) { loss.backward(); }
//--- used.h
#pragma once
#include <hvd/hvd.hpp>
inline hvd::Tensor total(const hvd::Tensor& out) { return out.square().sum(); }
//--- loss.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "used.h"

// CHECK: hvd::weighted(total(net(batch.data)), hvd::LossKind::sum).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    total(net(batch.data)).backward();
    opt.step();
  }
}
//--- backward.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "losses.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    back(total(net(batch.data)));
    opt.step();
  }
}
