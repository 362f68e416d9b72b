// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: for (auto& batch : hvd::steps(*loader)) {
template <class Model, class Loader>
void train(Model& net, hvd::optim::Optimizer& opt, Loader& loader) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

// CHECK: hvd::data::make_data_loader<hvd::Sharded<Sampler>>(samples(),
template <class Sampler>
auto open_samples() {
  return hvd::data::make_data_loader<Sampler>(samples(), hvd::data::DataLoaderOptions(10));
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto random = open_samples<hvd::data::RandomSampler>();
  train(net, opt, random);
  auto ordered = open_samples<hvd::data::SequentialSampler>();
  train(net, opt, ordered);
}
