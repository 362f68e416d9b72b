// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- result_used.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int n = 0;
  n > 0 ? (void)n : hvd::save(net, std::to_string(++n));  // refused: HVD3020
}
//--- acting_arguments.cpp
// An argument that acts and holds a number of the batch.
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    hvd::save(net, std::to_string(++n) + "-" + std::to_string(loss.item<double>()));  // refused: HVD3020
  }
}
