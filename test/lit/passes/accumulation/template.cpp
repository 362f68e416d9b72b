// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: (hvd::weighted(loss_of(net, batch) / Every, hvd::LossKind::mean)).backward();
// CHECK: hvd::reduce_gradients(opt);
template <int Every>
void train(Net& net, hvd::optim::Optimizer& opt, hvd::data::DataLoader& loader) {
  int n = 0;
  for (auto& batch : loader) {
    (loss_of(net, batch) / Every).backward();
    if (++n % Every == 0) {
      opt.step();
      opt.zero_grad();
    }
  }
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  train<2>(net, opt, *loader);
  train<4>(net, opt, *loader);
}
