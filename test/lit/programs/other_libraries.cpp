// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Names that mean other things: the file system before C++17, algorithms that are called like functions of the C library.

//--- names.cpp
#include <algorithm>
#include <cstdio>
#include <experimental/filesystem>
#include <string>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

namespace old = std::experimental::filesystem;

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::vector<int> sizes{8, 0, 16, 0};
  // CHECK: sizes.erase(std::remove(sizes.begin(), sizes.end(), 0), sizes.end());
  sizes.erase(std::remove(sizes.begin(), sizes.end(), 0), sizes.end());
  // CHECK: if (hvd::agree(!old::exists("net.safetensors"))) {
  if (!old::exists("net.safetensors")) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
  }
  // CHECK: if (hvd::is_root()) std::remove("old.txt");
  std::remove("old.txt");
}
