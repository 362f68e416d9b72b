// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


struct Program {
  Program(int argc, char** argv) : threads(argc > 1 ? std::atoi(argv[1]) : 1) {}
  void run() {
    hvd::set_num_threads(threads);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  int threads;
};

// CHECK: int main(int argc, char** argv) {
// CHECK-NEXT: hvd::Session hvd_session(argc, argv);
// CHECK-NEXT: Program(argc, argv).run();
int main(int argc, char** argv) {
  Program(argc, argv).run();
}
