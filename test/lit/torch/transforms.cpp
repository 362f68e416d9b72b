// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Transforms and collations: what they remember from sample to sample, and what they make of several samples, is of this rank's samples.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <utility>
#include <vector>

using Sample = torch::data::Example<>;

struct Rows : torch::data::datasets::Dataset<Rows> {
  Sample get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

template <class Set>
void train(Set set) {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader(std::move(set), torch::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- counting_transform.cpp
#include "program.h"

struct EveryThird : torch::data::transforms::TensorTransform<> {
  torch::Tensor operator()(torch::Tensor x) override {
    return ++calls % 3 == 0 ? x.flip(0) : x;  // refused: HVD3012
  }
  int calls = 0;
};

int main() { train(Rows().map(EveryThird()).map(torch::data::transforms::Stack<>())); }

//--- counting_lambda.cpp
#include "program.h"

int main() {
  int calls = 0;
  auto flip = torch::data::transforms::TensorLambda<>([&calls](torch::Tensor x) {
    return ++calls % 3 == 0 ? x.flip(0) : x;  // refused: HVD3012
  });
  train(Rows().map(flip).map(torch::data::transforms::Stack<>()));
}

//--- counts_for_itself.cpp
#include "program.h"

struct Mirror : torch::data::transforms::TensorTransform<> {
  torch::Tensor operator()(torch::Tensor x) override {
    int64_t at = 0;
    std::vector<torch::Tensor> parts;
    while (at < x.size(0)) parts.push_back(x[x.size(0) - ++at]);
    return torch::stack(parts);
  }
};

// CHECK: train(Rows().map(Mirror())
int main() { train(Rows().map(Mirror()).map(torch::data::transforms::Stack<>())); }

//--- mean_of_a_batch.cpp
#include "program.h"

// CHECK: torch::data::transforms::Collate<Sample>
int main() {
  train(Rows().map(torch::data::transforms::Collate<Sample>([](std::vector<Sample> samples) {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    for (auto& sample : samples) {
      x.push_back(sample.data);
      y.push_back(sample.target);
    }
    const auto rows = torch::stack(x);
    return Sample{rows - rows.mean(0, true), torch::stack(y)};
  })));
}

//--- as_long_as_the_longest.cpp
#include "program.h"

// CHECK: struct Pad
struct Pad : torch::data::transforms::Collation<Sample> {
  Sample apply_batch(std::vector<Sample> samples) override {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    for (auto& sample : samples) {
      x.push_back(sample.data);
      y.push_back(sample.target);
    }
    return {torch::nn::utils::rnn::pad_sequence(x, true), torch::stack(y)};
  }
};

int main() { train(Rows().map(Pad())); }
