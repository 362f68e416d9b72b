// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- config.h
#pragma once
struct Config {
  double lr = 0.1;
};
//--- config.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "config.h"

// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(config.lr))
int main() {
  const Config config;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(config.lr));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- make.h
// CHECK: inline hvd::optim::SGDOptions options() { return hvd::optim::SGDOptions(hvd::scaled_lr(0.1)); }
#pragma once
#include <hvd/hvd.hpp>
inline hvd::optim::SGDOptions options() { return hvd::optim::SGDOptions(0.1); }
//--- make.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "make.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), options());
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
