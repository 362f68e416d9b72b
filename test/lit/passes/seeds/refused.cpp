// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

#include <chrono>

// A rate that differs between ranks cannot be made one by a shared seed.
int main() {
  const double lr = 1.0 / static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));  // refused: HVD3012
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- data.cpp
#include <hvd/hvd.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "parts.h"

std::mt19937 rng(3), other(4);

struct Noisy : hvd::data::Dataset {
  hvd::data::Example get(size_t i) override {
    return {hvd::full({8}, std::normal_distribution<double>()(rng) + static_cast<double>(own())), hvd::full({}, static_cast<int64_t>(i % 3))};
  }
  size_t size() const override { return 40; }
  std::mt19937 own{5};
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(Noisy(), hvd::data::DataLoaderOptions(10));
  std::vector<int> order(40);
  std::shuffle(order.begin(), order.end(), other);
  rng.seed(9);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    std::shuffle(order.begin(), order.end(), rng);  // refused: HVD3028
  }
}
//--- device_order.cpp
#include <hvd/hvd.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::random_device device;
  std::vector<int> order(5);
  std::shuffle(order.begin(), order.end(), device);  // refused: HVD3012
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
