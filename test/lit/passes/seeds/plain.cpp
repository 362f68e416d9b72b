// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- clock.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: hvd::manual_seed(hvd::shared_seed(std::time(nullptr)));
int main() {
  hvd::manual_seed(std::time(nullptr));
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- entropy.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <random>

// CHECK: hvd::manual_seed(hvd::shared_seed(std::random_device{}()));
int main() {
  hvd::manual_seed(std::random_device{}());
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- engine.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <random>

// CHECK: std::random_device device;
// CHECK-NEXT: std::mt19937 engine(hvd::shared_seed(device()));
int main() {
  std::random_device device;
  std::mt19937 engine(device());
  hvd::manual_seed(engine());
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- fixed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::manual_seed(7);
// CHECK-NOT: shared_seed
int main() {
  hvd::manual_seed(7);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- engines.cpp
#include <hvd/hvd.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "parts.h"

// CHECK: std::seed_seq sequence{hvd::shared_seed(device()), hvd::shared_seed(device())};
// CHECK: engine.seed(hvd::shared_seed(std::random_device{}()));
// CHECK: if (hvd::agree(std::uniform_int_distribution<int>(0, 1)(device) == 1)) continue;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::random_device device;
  std::seed_seq sequence{device(), device()};
  std::mt19937 other(sequence);
  std::mt19937 engine;
  engine.seed(std::random_device{}());
  std::vector<int> order(5);
  std::shuffle(order.begin(), order.end(), engine);
  std::shuffle(order.begin(), order.end(), other);
  for (auto& batch : *loader) {
    opt.zero_grad();
    if (std::uniform_int_distribution<int>(0, 1)(device) == 1) continue;
    loss_of(net, batch).backward();
    opt.step();
  }
}
