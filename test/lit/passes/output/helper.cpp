// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: void say(const std::string& text) {
// CHECK-NEXT: if (hvd::is_root()) std::cout << text << "\n";
void say(const std::string& text) {
  std::cout << text << "\n";
}

void list(std::ostream& out, int n) {
  out << n << "\n";
}

// CHECK: say("start");
// CHECK: list(hvd::root_stream(std::cerr), 3);
int main() {
  say("start");
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  list(std::cerr, 3);
}
