// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: int run(int argc, char** argv) {
// CHECK-NOT: Session
int run(int argc, char** argv) {
  hvd::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  return 0;
}

// CHECK: int main(int count, char* words[]) { hvd::Session hvd_session(count, words); return run(count, words); }
int main(int count, char* words[]) { return run(count, words); }
