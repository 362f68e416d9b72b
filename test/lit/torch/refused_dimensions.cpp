// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Dimensions that are counted from the end of a number that is not known, and rows in another order than that of the batch.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <vector>

namespace F = torch::nn::functional;

// Sequences: four steps of three numbers, and a class for each step.
struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 26; }
  torch::Tensor x = torch::randn({26, 4, 3}), y = torch::arange(104).remainder(3).view({26, 4});
};

inline auto make_loader() { return torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8)); }

//--- means_then_sum.cpp
// form: a sum over means along the last of dimensions whose number is not known
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = out.pow(2).mean(-1).mean(-1).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- root_of_mean.cpp
// form: a root of means along the last of dimensions whose number is not known
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = (out - 1).pow(2).sum(1).mean(-1).sqrt().mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- transposed_from_behind.cpp
// form: a transposition of dimensions counted from the end, the third among them
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = out.transpose(-3, -2).pow(2).mean(1).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- put_in_from_behind.cpp
// form: a dimension put in at a place counted from the end
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = out.unsqueeze(-4).pow(2).mean(1).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- moved_to_front.cpp
// form: dimensions moved by movedim
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = torch::movedim(out.transpose(1, 2), 0, 2).pow(2).mean(1).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- joined_along_last.cpp
// form: numbers of samples joined along the last dimension
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto a = out.pow(2).mean(2).mean(1);
    auto loss = torch::cat({a, a}, -1).softmax(0).pow(2).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- flat_rows_in_two_orders.cpp
// form: rows of time steps, one behind another, beside rows of the batch
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    std::vector<torch::Tensor> steps;
    for (int64_t t = 0; t < 4; ++t) steps.push_back(out.select(1, t));
    auto loss = F::cross_entropy(torch::cat(steps), batch.target.view({-1}));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- mixed_outputs.cpp
// form: outputs of a layer in an order drawn for the batch
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto order = torch::randperm(batch.data.size(0));
    auto out = net(batch.data);
    auto loss = (out - out.index({order})).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- drawn_again.cpp
// form: rows of a batch drawn anew, with repetitions
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    auto drawn = torch::randint(batch.data.size(0), {batch.data.size(0)}, torch::kLong);
    auto loss = net(batch.data.index({drawn})).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- samples_in_pairs.cpp
// form: two samples of a known size put into one row
#include "program.h"

int main() {
  torch::nn::Linear net(24, 1), single(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto x = torch::rand({48, 12});
  for (int64_t at = 0; at < 48; at += 8) {
    auto rows = x.slice(0, at, at + 8);
    auto loss = net(rows.reshape({-1, 24})).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
  // Parts of a sample are rows of that sample's.
  for (int64_t at = 0; at < 48; at += 8) {
    auto rows = x.slice(0, at, at + 8);
    auto loss = single(rows.view({-1, 6})).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- changed_dimension.cpp
// form: a dimension in a variable that a lambda may change
#include "program.h"

int main() {
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader();
  int64_t along = 2;
  const auto turn = [&] { along = 0; };
  for (auto& batch : *loader) {
    auto loss = torch::log_softmax(net(batch.data), along).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
    turn();
  }
}
