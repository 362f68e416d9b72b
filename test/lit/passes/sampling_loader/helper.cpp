// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: return hvd::data::make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(
std::unique_ptr<hvd::data::DataLoader> open_samples(int64_t n) {
  return hvd::data::make_data_loader(samples(n), hvd::data::DataLoaderOptions(10));
}

// CHECK: for (auto& batch : hvd::steps(loader)) {
void train(Net& net, hvd::optim::Optimizer& opt, hvd::data::DataLoader& loader) {
  for (auto& batch : loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = open_samples(40);
  for (int epoch = 0; epoch < 2; ++epoch) train(net, opt, *loader);
}
