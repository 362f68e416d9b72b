// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- function.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: if (hvd::is_root()) std::cout << value << "\n";
template <class T>
void show(const T& value) {
  std::cout << value << "\n";
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  show(3);
  show("done");
}
//--- called_by_framework.cpp
// The constructor is called in a body of the framework only, which is skipped when a file is parsed for the first time.
// CHECK: if (hvd::is_root()) std::cout << Hidden << " features\n";
// CHECK: if (hvd::is_root()) std::cout << "forward\n";
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

template <int Hidden>
struct LoudImpl : hvd::nn::Module {
  LoudImpl() : hidden(register_module("hidden", hvd::nn::Linear(8, Hidden))), out(register_module("out", hvd::nn::Linear(Hidden, 3))) {
    std::cout << Hidden << " features\n";
  }
  hvd::Tensor forward(const hvd::Tensor& x) {
    std::cout << "forward\n";
    return out(hidden(x).relu());
  }
  hvd::nn::Linear hidden, out;
};
using Loud = hvd::nn::ModuleHolder<LoudImpl<16>>;

int main() {
  Loud net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), batch.target).backward();
    opt.step();
  }
}
