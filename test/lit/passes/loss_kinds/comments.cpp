// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: // Of all samples,
// CHECK-NEXT: hvd::weighted(net(batch.data).square() /* squares */ .sum(), hvd::LossKind::sum).backward();  // summed
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    // Of all samples,
    net(batch.data).square() /* squares */ .sum().backward();  // summed
    opt.step();
  }
}
