// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: hvd::manual_seed(hvd::shared_seed(static_cast<T>(std::time(nullptr))));
template <class T>
void seed() {
  hvd::manual_seed(static_cast<T>(std::time(nullptr)));
}

int main(int argc, char**) {
  if (argc > 1) seed<uint32_t>();
  else seed<uint64_t>();
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
