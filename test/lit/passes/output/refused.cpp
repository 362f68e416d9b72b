// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- input.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <fstream>
#include <unistd.h>

int main() {
  char buffer[16];
  const int c = std::getchar();                                        // refused: HVD3024
  const char* line = std::fgets(buffer, sizeof buffer, stdin);         // refused: HVD3024
  const auto bytes = read(STDIN_FILENO, buffer, sizeof buffer);        // refused: HVD3024
  std::ifstream in("/dev/stdin");                                      // refused: HVD3024
  int n = 0;
  std::cin >> n;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  return n + c + (line ? 1 : 0) + static_cast<int>(bytes) + in.peek();
}
//--- early.cpp
#include <hvd/hvd.hpp>

#include <cstdio>
#include <iostream>

#include "parts.h"

int number() {
  int n = 0;
  std::cin >> n;
  return n;
}

const bool made = std::rename("new.log", "old.log") == 0;  // refused: HVD3020

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < made + number(); ++epoch)
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
}
