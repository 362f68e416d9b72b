// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: for (auto& batch : hvd::steps(*test_)) {
// CHECK-NEXT: total_ += hvd::batch_mean(loss_of(net_, batch).template item<double>()) * hvd::global(batch.data.size(0));
// CHECK-NEXT: rows_ += hvd::global(batch.data.size(0));
// CHECK: return total_ / rows_;
template <class Loader>
class Judge {
 public:
  Judge(Net& net, Loader& test) : net_(net), test_(&test) {}
  double loss() {
    for (auto& batch : *test_) {
      total_ += loss_of(net_, batch).template item<double>() * batch.data.size(0);
      rows_ += batch.data.size(0);
    }
    return total_ / rows_;
  }

 private:
  Net net_;
  Loader* test_;
  double total_ = 0;
  int64_t rows_ = 0;
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  Judge judge(net, *test);
  const double loss = judge.loss();
  std::cout << loss << "\n";
}
