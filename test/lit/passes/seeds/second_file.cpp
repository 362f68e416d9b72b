// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- clock.h
#pragma once
#include <ctime>
inline unsigned long now() { return static_cast<unsigned long>(std::time(nullptr)); }
//--- clock.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "clock.h"

// CHECK: hvd::manual_seed(hvd::shared_seed(now()));
int main() {
  hvd::manual_seed(now());
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- seed.h
// CHECK: inline void seed() { hvd::manual_seed(hvd::shared_seed(std::time(nullptr))); }
#pragma once
#include <hvd/hvd.hpp>
#include <ctime>
inline void seed() { hvd::manual_seed(std::time(nullptr)); }
//--- seed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "seed.h"

int main() {
  seed();
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
