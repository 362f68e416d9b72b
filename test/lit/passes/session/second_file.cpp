// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- program.h
#pragma once
#include <cstdlib>
struct Arguments {
  Arguments(int argc, char** argv) : threads(argc > 1 ? std::atoi(argv[1]) : 1) {}
  int threads;
};
//--- program.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "program.h"

// CHECK: #include <hvd/distributed.hpp>
// CHECK: #include "program.h"
// CHECK: hvd::Session hvd_session(argc, argv);
// CHECK-NEXT: const Arguments arguments(argc, argv);
int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  hvd::set_num_threads(arguments.threads);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- main.h
// CHECK: hvd::Session hvd_session;
#pragma once
void train();
int main() {
  train();
}
//--- main_in_header.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "main.h"

void train() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
