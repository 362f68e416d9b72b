// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_step.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    loss_of(net, batch).backward();  // refused: HVD3015
  }
}
//--- unused_function.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

template <class Loader>
void train(Net& net, Loader& loader, hvd::optim::SGD& opt) {  // refused: HVD3019
  for (auto& batch : loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() {}
//--- unused_member.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

template <class Model>
struct Trainer {
  template <class Loss>
  void step(Loss loss) {  // refused: HVD3019
    loss.backward();
    opt.step();
  }
  Model net;
  hvd::optim::SGD opt{net->parameters(), 0.1};
};

int main() {
  Trainer<Net> trainer;
  const auto unused = [&](auto loss) { loss.backward(); };  // refused: HVD3019
  static_cast<void>(unused);
}
