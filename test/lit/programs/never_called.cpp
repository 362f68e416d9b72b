// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Functions that nothing calls stay as they are, with what only they call; a function that is named somewhere may be called.
#include <hvd/hvd.hpp>

#include <functional>

#include "parts.h"

static void helper(hvd::optim::SGD& opt, const hvd::Tensor& loss) {  // says: HVD1059
  // CHECK: loss.backward();
  loss.backward();
  opt.step();
}

void tried_before(Net& net) {
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.3));
  // CHECK: helper(opt, net(hvd::randn({4, 8})).mean());
  helper(opt, net(hvd::randn({4, 8})).mean());
}

void train(Net& net, hvd::data::DataLoader& loader) {
  // CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (auto& batch : loader) {
    opt.zero_grad();
    net(batch.data).pow(2).mean().backward();
    opt.step();
  }
}

int main() {
  Net net;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const std::function<void(Net&, hvd::data::DataLoader&)> run = train;
  run(net, *loader);
}
