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
int main() {
  train(Rows().map(torch::data::transforms::Collate<Sample>([](std::vector<Sample> samples) {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    for (auto& sample : samples) {
      x.push_back(sample.data);
      y.push_back(sample.target);
    }
    const auto rows = torch::stack(x);
    return Sample{rows - rows.mean(0, true), torch::stack(y)};  // refused: HVD3012
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

//--- each_by_itself.cpp
#include "program.h"

// CHECK: struct Each
struct Each : torch::data::transforms::Collation<Sample> {
  Sample apply_batch(std::vector<Sample> samples) override {
    const auto count = static_cast<int64_t>(samples.size());
    auto x = torch::empty({count, samples[0].data.size(0)}, samples[0].data.options());
    std::vector<torch::Tensor> y;
    for (size_t i = 0; i < samples.size(); ++i) {
      x[static_cast<int64_t>(i)] = samples[i].data / 255.0;
      y.push_back(samples[i].target);
    }
    Sample batch;
    batch.data = x.view({count, -1});
    batch.target = torch::stack(y);
    return batch;
  }
};

int main() { train(Rows().map(Each())); }

//--- with_its_neighbour.cpp
#include "program.h"
struct Mix : torch::data::transforms::Collation<Sample> {
  Sample apply_batch(std::vector<Sample> samples) override {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    for (size_t i = 0; i < samples.size(); ++i) {
      x.push_back(0.9 * samples[i].data + 0.1 * samples[(i + 1) % samples.size()].data);  // refused: HVD3012
      y.push_back(samples[i].target);
    }
    return {torch::stack(x), torch::stack(y)};
  }
};

int main() { train(Rows().map(Mix())); }

//--- by_their_number.cpp
#include "program.h"

// CHECK: struct Shares
struct Shares : torch::data::transforms::Collation<Sample> {
  Sample apply_batch(std::vector<Sample> samples) override {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    for (auto& sample : samples) {
      x.push_back(sample.data);
      y.push_back(sample.target);
    }
    return {torch::stack(x) / static_cast<double>(samples.size()), torch::stack(y)};
  }
};

int main() { train(Rows().map(Shares())); }

//--- made_longer.cpp
#include "program.h"

// CHECK: struct Full
struct Full : torch::data::transforms::Collation<Sample> {
  Sample apply_batch(std::vector<Sample> samples) override {  // says: HVD2003
    std::vector<torch::Tensor> x, y;
    while (samples.size() % 4 != 0) samples.push_back(samples.front());
    for (auto& sample : samples) {
      x.push_back(sample.data);
      y.push_back(sample.target);
    }
    return {torch::stack(x), torch::stack(y)};
  }
};

int main() { train(Rows().map(Full())); }

//--- turned_rows.cpp
#include "program.h"

struct Whole : torch::data::datasets::BatchDataset<Whole, Sample> {
  Sample get_batch(torch::ArrayRef<size_t> rows) override {  // says: HVD2003
    const std::vector<int64_t> numbers(rows.begin(), rows.end());
    const auto at = torch::tensor(numbers);
    const auto x = all.index_select(0, at);
    return {x + 0.1 * x.roll(1, 0), classes.index_select(0, at)};
  }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor all = torch::randn({40, 5}), classes = torch::arange(40).remainder(3);
};

// CHECK: train(Whole())
int main() { train(Whole()); }
