// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// An optimizer or a model that an expression names is named once more in the output: not where the expression does something each time.

//--- turns.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD fast(net->parameters(), hvd::optim::SGDOptions(0.1)), slow(net->parameters(), hvd::optim::SGDOptions(0.01));
  hvd::optim::SGD* turn[] = {&fast, &slow};
  int step = 0;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    net->zero_grad();
    loss_of(net, batch).backward();
    turn[step++ % 2]->step();  // refused: HVD3015
  }
}

//--- round_robin.cpp
#include <hvd/hvd.hpp>

#include <vector>

#include "parts.h"

struct Turns {
  std::vector<hvd::optim::SGD*> all;
  size_t at = 0;
  hvd::optim::SGD* next() { return all[at++ % all.size()]; }
};

int main() {
  Net net;
  hvd::optim::SGD fast(net->parameters(), hvd::optim::SGDOptions(0.1)), slow(net->parameters(), hvd::optim::SGDOptions(0.01));
  Turns turns{{&fast, &slow}};
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    net->zero_grad();
    loss_of(net, batch).backward();
    turns.next()->step();  // refused: HVD3015
  }
}

//--- by_key.cpp
#include <hvd/hvd.hpp>

#include <map>
#include <memory>
#include <string>

#include "parts.h"

// CHECK: hvd::reduce_gradients(optimizers["all"]);
int main() {
  Net net;
  std::map<std::string, std::shared_ptr<hvd::optim::SGD>> optimizers;
  auto opt = std::make_shared<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(0.1));
  optimizers["all"] = opt;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    net->zero_grad();
    loss_of(net, batch).backward();
    optimizers["all"]->step();
  }
}

//--- made_when_asked.cpp
#include <hvd/hvd.hpp>

#include <vector>

#include "parts.h"

struct Zoo {
  std::vector<Net> made;
  Net create() {
    made.emplace_back();
    return made.back();
  }
};

// CHECK: hvd::broadcast(opt);
int main() {
  Zoo zoo;
  hvd::optim::SGD opt(zoo.create()->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(zoo.made.front(), batch).backward();
    opt.step();
  }
}

//--- updated_by_hand.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A tensor that no optimizer has: its gradient is that of one rank's samples.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto shift = hvd::zeros({8}).requires_grad_();
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data + shift), batch.target).backward();
    opt.step();
    hvd::NoGradGuard none;
    shift.add_(shift.grad() * 0.3);  // refused: HVD3031
  }
}
