// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- sample.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    total += (batch.data[0] * batch.data.mean()).sum().item<double>();  // refused: HVD3012
    const auto first = batch.data[0];
    total += first.mul_(2.0).sum().item<double>();  // refused: HVD3012
    auto one = batch.data[0];
    one += 1;  // refused: HVD3012
    total += one.sum().item<double>();  // refused: HVD3012
  }
  std::cout << total << "\n";
}
//--- changed_in_place.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// Through a view of one sample the batch changes.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto first = batch.data[0];
    first.zero_();  // refused: HVD3012
    batch.data[1] *= 2;  // refused: HVD3012
    auto second = batch.data[2];
    second += 1;  // refused: HVD3012
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- trained_on.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// What is gathered has no gradient.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto first = net(batch.data)[0];
    (loss_of(net, batch) + first.sum()).backward();  // refused: HVD3010
    opt.step();
    std::cout << first.sum().item<double>() << "\n";
  }
}
//--- joined.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(hvd::cat({batch.data, batch.data * 0.5}, 0));
    hvd::nn::functional::cross_entropy(out, hvd::cat({batch.target, batch.target}, 0)).backward();
    opt.step();
    std::cout << out.argmax(1) << "\n";  // refused: HVD3012
  }
}
