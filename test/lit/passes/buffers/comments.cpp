// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: // From here on
// CHECK-NEXT: hvd::sync_buffers(net);
// CHECK-NEXT: net->eval(/* nothing */);  // no training
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  // From here on
  net->eval(/* nothing */);  // no training
}
