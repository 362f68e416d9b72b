// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: for (auto& batch : hvd::steps(loader)) correct += hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().template item<int64_t>());
template <class Model, class Loader>
int64_t hits(Model& net, Loader& loader) {
  int64_t correct = 0;
  for (auto& batch : loader) correct += net(batch.data).argmax(1).eq(batch.target).sum().template item<int64_t>();
  return correct;
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  const int64_t known = hits(net, *loader), unknown = hits(net, *test);
  std::cout << known << " " << unknown << "\n";
}
