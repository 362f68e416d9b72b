// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <fstream>

// CHECK: explicit Log(const std::string& path) : file(hvd::root_path(path)) {}
// CHECK: if (hvd::is_root()) std::cout << text << "\n";
struct Log {
  explicit Log(const std::string& path) : file(path) {}
  void line(const std::string& text) {
    file << text << "\n";
    std::cout << text << "\n";
  }
  std::ofstream file;
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  Log log("log.txt");
  log.line("done");
}
