// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- parameters.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


#define PROGRAM int main(int argc, char** argv)

// CHECK: PROGRAM {
// CHECK-NEXT: hvd::Session hvd_session(argc, argv);
PROGRAM {
  hvd::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


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

#define RUN_MAIN int main() { train(); }
RUN_MAIN  // refused: HVD3001
