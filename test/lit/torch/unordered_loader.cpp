// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Loaders whose workers return batches in any order.

//--- program.h
#pragma once
#include <torch/torch.h>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

template <class Loader>
void learn(Loader& loader) {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (auto& batch : loader) {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net(batch.data), batch.target).backward();
    optimizer.step();
  }
}

//--- ordered_on_several_ranks.cpp
#include "program.h"

int main(int argc, char**) {
  auto set = Rows().map(torch::data::transforms::Stack<>());
  // CHECK: .workers(2).enforce_ordering(hvd::ordered(false)))
  auto first = torch::data::make_data_loader(set, torch::data::DataLoaderOptions(8).workers(2).enforce_ordering(false));
  // CHECK: .workers(2).enforce_ordering(hvd::ordered(argc > 1)))
  auto second = torch::data::make_data_loader(set, torch::data::DataLoaderOptions(8).workers(2).enforce_ordering(argc > 1));
  // CHECK: .workers(2).enforce_ordering(true))
  auto third = torch::data::make_data_loader(set, torch::data::DataLoaderOptions(8).workers(2).enforce_ordering(true));
  learn(*first);
  learn(*second);
  learn(*third);
}

//--- in_a_macro.cpp
#include "program.h"
#define QUICK(n) torch::data::DataLoaderOptions(n).workers(2).enforce_ordering(false)

int main() {
  auto loader = torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), QUICK(8));  // refused: HVD3011
  learn(*loader);
}
