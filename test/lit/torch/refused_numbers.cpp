// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Numbers of the batch that are part of a loss, and of its gradient: they cannot be combined where they are formed. Memory of samples that is
// written through a pointer.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

inline auto make_loader(int64_t size) { return torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(size)); }

//--- learned_divisor.cpp
// form: a divisor with a lower bound that the network makes
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto weight = torch::sigmoid(out.select(1, 0));
    auto each = F::cross_entropy(out, batch.target, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto loss = (each * weight).sum() / weight.sum().clamp_min(1e-3);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- divisor_of_a_parameter.cpp
// form: a divisor with a lower bound that a tensor with gradients makes
#include "program.h"

int main() {
  auto w = torch::randn({5}, torch::requires_grad());
  torch::optim::SGD optimizer({w}, 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto scores = (batch.data * w).sum(1);
    auto loss = (scores - batch.target).pow(2).sum() / scores.abs().sum().clamp_min(1e-3);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- clamped_in_place.cpp
// form: a count that is changed in place before it divides
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto mask = batch.target.gt(0).to(torch::kFloat);
    auto count = mask.sum();
    count.clamp_(1);  // refused: HVD3012
    auto loss = (F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(torch::kNone)) * mask).sum() / count;
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- written_through_an_accessor.cpp
// form: samples that are changed through an accessor
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto cells = batch.data.accessor<float, 2>();
    for (int64_t i = 0; i < batch.data.size(0); ++i) cells[i][0] = 0.5f * cells[i][1];  // refused: HVD3012
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- changed_behind_an_accessor.cpp
// form: samples that change in place while an accessor reads them
#include "program.h"

void standardize(torch::Tensor x) { x.mul_(2); }

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto cells = batch.data.accessor<float, 2>();
    standardize(batch.data);
    std::cout << cells[0][0] << '\n';  // refused: HVD3012
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- layer_of_a_step.cpp
// form: a layer that is declared inside a step, whose starting values would be each rank's own
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    torch::nn::Linear projection(5, 5);  // refused: HVD3012
    auto loss = F::cross_entropy(net(projection(batch.data).detach()), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- rows_of_the_batch_before.cpp
// form: the number of samples of the batch before, counted in this step
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  torch::Tensor before;
  int64_t seen = 0;
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (before.defined()) seen += before.size(0);  // refused: HVD3012
    before = batch.data;
  }
  std::cout << seen << '\n';
}
