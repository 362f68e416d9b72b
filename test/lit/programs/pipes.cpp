// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A plot through a pipe: the command runs once, and the other ranks have a stream to write to.

//--- plot.cpp
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  // CHECK: FILE* plot = popen(hvd::root_command("gnuplot -persist"), "w");
  // CHECK-NEXT: std::fprintf(plot, "plot sin(x)\n");
  // CHECK-NEXT: pclose(plot);
  FILE* plot = popen("gnuplot -persist", "w");
  std::fprintf(plot, "plot sin(x)\n");
  pclose(plot);
}

//--- answer.cpp
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  char name[40] = "";
  FILE* answer = popen("uname", "r");  // refused: HVD3020
  if (std::fgets(name, sizeof name, answer) == nullptr) return 1;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
