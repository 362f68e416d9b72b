// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- mean.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: total += hvd::batch_mean(loss.item<double>()) * hvd::global(batch.data.size(0));
// CHECK: rows += hvd::global(batch.data.size(0));
// CHECK: if (hvd::is_root()) std::cout << total / rows << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  int64_t rows = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    total += loss.item<double>() * batch.data.size(0);
    rows += batch.data.size(0);
  }
  std::cout << total / rows << "\n";
}
//--- sum_and_extrema.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: correct += hvd::batch_sum(out.argmax(1).eq(batch.target).sum().item<int64_t>());
// CHECK: largest = std::max(largest, hvd::batch_max(out.max().item<double>()));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int64_t correct = 0;
  double largest = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    hvd::nn::functional::cross_entropy(out, batch.target).backward();
    opt.step();
    correct += out.argmax(1).eq(batch.target).sum().item<int64_t>();
    largest = std::max(largest, out.max().item<double>());
  }
  std::cout << correct << " " << largest << "\n";
}
