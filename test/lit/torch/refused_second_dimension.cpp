// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Samples in the second dimension: what would mix them with time steps, layers or features is refused.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <iostream>
#include <vector>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5, 4}), y = torch::arange(40).remainder(3);
};

inline auto make_loader(int64_t size) { return torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(size)); }

//--- states_of_two_layers.cpp
// form: a state of several layers, squeezed
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).num_layers(2).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state.squeeze(0).select(0, 0)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- states_as_rows.cpp
// form: the states of several layers as rows of the samples
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).num_layers(2).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state.reshape({batch.data.size(0), -1}).slice(1, 0, 6)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- mean_over_samples_of_states.cpp
// form: a mean over the samples of a state
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state[0]) + state.mean(1).sum(), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- softmax_over_samples.cpp
// form: a softmax over the samples of a state
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(torch::softmax(state, 1)[0]), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- slice_of_samples.cpp
// form: some samples of a state
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state[0]) + head(state.slice(1, 0, 1)[0]), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- last_dimension_unknown.cpp
// form: a dimension counted from the end that may be that of the samples
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state[0]) + F::linear(batch.target.unsqueeze(0).to(torch::kFloat), torch::ones({3, 8})).sum(-1).unsqueeze(1), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- products_across_samples.cpp
// form: products of matrices of one time step
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state[0]) + torch::bmm(steps.transpose(0, 1), steps.permute({1, 2, 0})).mean(), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- classes_from_samples.cpp
// form: a loss that takes the samples for classes
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(steps.transpose(0, 1)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- time_first_into_batch_first.cpp
// form: time steps first into a layer that wants the batch first
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(std::get<0>(gru(batch.data.transpose(0, 1))).select(1, 0).slice(0, 0, 1)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- axes_meet.cpp
// form: samples in different dimensions, added
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state[0] + steps.transpose(0, 1).slice(0, 0, 1)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- stacked_with_constants.cpp
// form: rows of samples stacked with rows that all ranks have
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(torch::stack({state[0], torch::ones({8, 6})}, 0).mean(0)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- permuted_elsewhere.cpp
// form: samples moved to the third dimension
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    auto loss = F::cross_entropy(head(state.permute({0, 2, 1})[0].t()), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- printed_states.cpp
// form: the states of all samples, printed
#include "program.h"

int main() {
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 6).batch_first(true));
  torch::nn::Linear head(6, 3);
  torch::optim::SGD optimizer(head->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto [steps, state] = gru(batch.data);
    std::cout << state << std::endl;  // refused: HVD3012
    auto loss = F::cross_entropy(head(state[0]), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
