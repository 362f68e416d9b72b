// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_constructor.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


struct Trainer {
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  Net net;
  hvd::optim::SGD opt{net->parameters(), 0.1};  // refused: HVD3015
};

int main() { Trainer().run(); }
//--- nameless.cpp
#include <map>

#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  std::map<std::string, std::unique_ptr<hvd::optim::Optimizer>> all;
  all.emplace("net", std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(0.1)));  // refused: HVD3015
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    for (auto& [name, opt] : all) opt->zero_grad();
    loss_of(net, batch).backward();
    for (auto& [name, opt] : all) opt->step();
  }
}
//--- opaque.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


std::unique_ptr<hvd::optim::Optimizer> optimizer_from_elsewhere(Net& net);

int main() {
  Net net;
  auto opt = optimizer_from_elsewhere(net);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    loss_of(net, batch).backward();
    opt->step();  // refused: HVD3015
  }
}
