// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Samples that depend on those read or collated before them: a rank reads its own samples only, and would get others.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using torch::Tensor;
using Example = torch::data::Example<>;

struct Rows : torch::data::datasets::Dataset<Rows> {
  Example get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

template <class Data>
void train(Data data) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(data), 8);
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (auto& batch : *loader) {
    auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- turn_by_turn.cpp
// form: a collation that treats every second sample of a batch differently
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> xs, ys;
    bool flip = false;
    for (auto& e : examples) {
      xs.push_back(flip ? e.data.flip(0) : e.data);  // refused: HVD3012
      ys.push_back(e.target);
      flip = !flip;
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- by_place.cpp
// form: a collation that weights samples by their place in the batch
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> xs, ys;
    int place = 0;
    for (auto& e : examples) {
      xs.push_back(e.data / (1.0 + place++));  // refused: HVD3012
      ys.push_back(e.target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- by_number.cpp
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> xs, ys;
    for (size_t k = 0; k < examples.size(); ++k) {
      xs.push_back(examples[k].data * static_cast<double>(k));  // refused: HVD3012
      ys.push_back(examples[k].target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- differences.cpp
// form: a collation that takes each sample relative to the one before
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> xs, ys;
    Tensor before = torch::zeros({5});
    for (auto& e : examples) {
      xs.push_back(e.data - before);  // refused: HVD3012
      before = e.data;
      ys.push_back(e.target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- neighbours.cpp
// form: a collation that mixes each sample with its neighbour
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::vector<Tensor> xs, ys;
    for (size_t k = 0; k < examples.size(); ++k) {
      xs.push_back(examples[k].data + examples[(k + 1) % examples.size()].data);  // refused: HVD3012
      ys.push_back(examples[k].target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- noise_in_turn.cpp
// form: a generator that a collation begins anew for each batch
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    std::mt19937 engine(3);
    std::normal_distribution<double> noise;
    std::vector<Tensor> xs, ys;
    for (auto& e : examples) {
      xs.push_back(e.data + noise(engine));  // refused: HVD3012
      ys.push_back(e.target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- each_class_once.cpp
// form: a collation that leaves out samples of a class that the batch has already
#include "program.h"

struct Collate : torch::data::transforms::Collation<Example> {
  Example apply_batch(std::vector<Example> examples) override {
    bool had[3] = {false, false, false};
    std::vector<Tensor> xs, ys;
    for (auto& e : examples) {
      const int64_t c = e.target.item<int64_t>();
      if (had[c]) continue;  // refused: HVD3012
      had[c] = true;
      xs.push_back(e.data);
      ys.push_back(e.target);
    }
    return {torch::stack(xs), torch::stack(ys)};
  }
};

int main() { train(Rows().map(Collate())); }

//--- centred.cpp
// form: a data set's get_batch that subtracts the mean of the batch
#include "program.h"

struct Batches : torch::data::datasets::BatchDataset<Batches, Example> {
  Example get_batch(torch::ArrayRef<size_t> indices) override {
    std::vector<int64_t> rows(indices.begin(), indices.end());
    const Tensor picked = x.index_select(0, torch::tensor(rows));
    const Tensor mean = picked.mean(0);
    return {picked - mean, torch::tensor(rows).remainder(3)};  // refused: HVD3012
  }
  torch::optional<size_t> size() const override { return 40; }
  Tensor x = torch::randn({40, 5});
};

int main() { train(Batches()); }

//--- kept_by_exchange.cpp
// form: a data set that remembers the sample before, by std::exchange, a container or a helper
#include "program.h"

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override {
    const double shift = std::exchange(last, static_cast<double>(i));  // refused: HVD3012
    return {torch::full({5}, shift), torch::tensor(static_cast<int64_t>(i % 3))};
  }
  torch::optional<size_t> size() const override { return 40; }
  double last = 0;
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }

//--- kept_in_a_list.cpp
#include "program.h"

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override {
    seen.push_back(static_cast<double>(i));  // refused: HVD3012
    return {torch::full({5}, seen[seen.size() / 2]), torch::tensor(static_cast<int64_t>(i % 3))};
  }
  torch::optional<size_t> size() const override { return 40; }
  std::vector<double> seen;
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }

//--- kept_by_a_member.cpp
#include "program.h"

struct Walk {
  double at = 0;
  double step(double to) {
    at = 0.9 * at + 0.1 * to;  // refused: HVD3012
    return at;
  }
};

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override { return {torch::full({5}, walk.step(static_cast<double>(i))), torch::tensor(static_cast<int64_t>(i % 3))}; }
  torch::optional<size_t> size() const override { return 40; }
  Walk walk;
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }

//--- kept_by_reference.cpp
#include "program.h"

inline double next(int& calls) {
  ++calls;  // refused: HVD3012
  return calls % 2 ? 1.0 : -1.0;
}

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override { return {torch::full({5}, next(calls)), torch::tensor(static_cast<int64_t>(i % 3))}; }
  torch::optional<size_t> size() const override { return 40; }
  int calls = 0;
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }

//--- running_mean.cpp
// form: a transform that centres samples by a running mean
#include "program.h"

struct Centre : torch::data::transforms::TensorTransform<> {
  std::shared_ptr<std::pair<Tensor, int>> state = std::make_shared<std::pair<Tensor, int>>(torch::zeros({5}), 0);
  Tensor operator()(Tensor x) override {
    auto& [mean, n] = *state;
    ++n;  // refused: HVD3012
    mean = mean + (x - mean) / double(n);
    return x - mean;
  }
};

int main() { train(Rows().map(Centre()).map(torch::data::transforms::Stack<>())); }

//--- drawn_once.cpp
// form: a data set that keeps a random number for each sample
#include "program.h"

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override {
    auto& row = kept[i];
    if (!row.defined()) row = torch::randn({5});  // refused: HVD3012
    return {row, torch::tensor(static_cast<int64_t>(i % 3))};
  }
  torch::optional<size_t> size() const override { return 40; }
  std::vector<Tensor> kept = std::vector<Tensor>(40);
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }

//--- numbered_by_call.cpp
#include "program.h"

struct Set : torch::data::datasets::Dataset<Set> {
  Example get(size_t i) override {
    kept.try_emplace(i, torch::full({5}, double(kept.size())));  // refused: HVD3012
    return {kept.at(i), torch::tensor(static_cast<int64_t>(i % 3))};
  }
  torch::optional<size_t> size() const override { return 40; }
  std::map<size_t, Tensor> kept;
};

int main() { train(Set().map(torch::data::transforms::Stack<>())); }
