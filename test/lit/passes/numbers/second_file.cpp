// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- average.h
#pragma once
struct Average {
  void add(double x) { sum += x, ++n; }
  double value() const { return sum / n; }
  double sum = 0;
  int n = 0;
};
//--- average.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include "average.h"

// CHECK: average.add(hvd::batch_mean(loss.item<double>()));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Average average;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    average.add(loss.item<double>());
  }
  std::cout << average.value() << "\n";
}
//--- number.h
// CHECK: inline double number(const hvd::Tensor& loss) { return hvd::batch_mean(loss.item<double>()); }
#pragma once
#include <hvd/hvd.hpp>
inline double number(const hvd::Tensor& loss) { return loss.item<double>(); }
//--- number.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include "number.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    total += number(loss);
  }
  std::cout << total << "\n";
}
