// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- condition.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

bool evaluated(NormNet& net) { return net->eval(), true; }

int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  for (int i = 0; i < 1; net->eval(), ++i) evaluated(net);  // refused: HVD3003
}
//--- one_rank.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "norm.h"

// Only the root would come to the collective.
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  try {
    net->train();
  } catch (const std::exception&) {
    net->eval();  // refused: HVD3014
  }
}
