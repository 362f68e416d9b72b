// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <cstdio>
#include <fstream>

// CHECK: if (hvd::is_root()) std::cout << "start\n";
// CHECK: if (hvd::is_root()) std::printf("%d\n", n);
// CHECK: std::ofstream log(hvd::root_path("log.csv"));
// CHECK: hvd::root_stream(std::cout) << ++n << "\n";
// CHECK-NEXT: log << n << "\n";
int main() {
  std::cout << "start\n";
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::printf("%d\n", n);
  std::ofstream log("log.csv");
  std::cout << ++n << "\n";
  log << n << "\n";
}
