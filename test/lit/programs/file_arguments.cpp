// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What the arguments of a change to a file do besides is done on every rank.
//--- renamed.cpp
#include <hvd/hvd.hpp>

#include <filesystem>
#include <string>

#include "parts.h"

std::string numbered(int n) { return "step-" + std::to_string(n) + ".txt"; }

// CHECK: if (hvd::is_root()) std::filesystem::remove("first.txt");
// CHECK: const auto [[PATH:hvd_[a-z_0-9]+]] = numbered(++n);
// CHECK-NEXT: if (hvd::is_root()) std::filesystem::rename("last.txt", [[PATH]]);
// CHECK: return hvd::from_root([&] { return std::filesystem::remove("last.txt"); }) ? n : 0;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  std::filesystem::remove("first.txt");
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    std::filesystem::rename("last.txt", numbered(++n));
  }
  return std::filesystem::remove("last.txt") ? n : 0;
}
//--- used.cpp
#include <hvd/hvd.hpp>

#include <filesystem>
#include <string>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int made = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    if (!std::filesystem::create_directory("step-" + std::to_string(++made))) break;  // refused: HVD3020
  }
}
