// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// A literal in braces may be narrowed, what is computed may not. A number that is another option as well is scaled where it becomes a rate.
struct Config {
  explicit Config(float r) : rate{r} {}
  float rate;
};

// CHECK: const float first{static_cast<float>(hvd::scaled_lr(1e-1))};
// CHECK: const float second{hvd::scaled_lr(0.05f)};
// CHECK: Config config{0.2};
// CHECK: const double shared = 0.01;
// CHECK: hvd::optim::SGD a(net->parameters(), hvd::optim::SGDOptions(first));
// CHECK: hvd::optim::SGD b(net->parameters(), hvd::optim::SGDOptions(second));
// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(config.rate))
// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(shared)).weight_decay(shared)
int main() {
  const float first{1e-1};
  const float second{0.05f};
  Config config{0.2};
  const double shared = 0.01;
  Net net;
  hvd::optim::SGD a(net->parameters(), hvd::optim::SGDOptions(first));
  hvd::optim::SGD b(net->parameters(), hvd::optim::SGDOptions(second));
  hvd::optim::SGD c(net->parameters(), hvd::optim::SGDOptions(config.rate));
  hvd::optim::SGD d(net->parameters(), hvd::optim::SGDOptions(shared).weight_decay(shared));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    for (hvd::optim::SGD* opt : {&a, &b, &c, &d}) opt->zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net(batch.data), batch.target);
    loss.backward();
    for (hvd::optim::SGD* opt : {&a, &b, &c, &d}) opt->step();
  }
}
