// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- config.h
#pragma once
struct Config {
  int rows = 10;
};
constexpr int kRows = 20;
//--- member.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "config.h"

// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(config.rows))
int main() {
  const Config config;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(config.rows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- constant.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "config.h"

// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(kRows))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- options.h
// CHECK: inline hvd::data::DataLoaderOptions options() { return hvd::data::DataLoaderOptions(hvd::global_batch_size(10)); }
#pragma once
#include <hvd/hvd.hpp>
inline hvd::data::DataLoaderOptions options() { return hvd::data::DataLoaderOptions(10); }
//--- options.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "options.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), options());
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
