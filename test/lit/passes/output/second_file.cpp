// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- format.h
#pragma once
#include <string>
inline std::string line(int n) { return "step " + std::to_string(n); }
//--- format.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include "format.h"

// CHECK: std::cout << line(3) << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::cout << line(3) << "\n";
}
//--- show.h
// CHECK: if (hvd::is_root()) std::cout << n << "\n";
#pragma once
#include <iostream>
inline void show(int n) {
  std::cout << n << "\n";
}
//--- show.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "show.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  show(3);
}
