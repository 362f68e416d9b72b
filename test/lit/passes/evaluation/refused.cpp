// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- training_rows.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// What is evaluated meets rows of this rank's training batch.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  double distance = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    hvd::nn::functional::cross_entropy(out, batch.target).backward();
    opt.step();
    for (auto& other : *test) distance += (net(other.data)[0] - out[0]).square().sum().item<double>();  // refused: HVD3012
  }
  std::cout << distance << "\n";
}
//--- some_ranks.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// The handler may run on some ranks only, and the loader's order is shared.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0;
  try {
    net->train();
  } catch (const std::exception&) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();  // refused: HVD3014
      opt.step();  // refused: HVD3014
    }
  }
  std::cout << correct << "\n";
}
