// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Steps that use all samples where their rows cannot be shared out, or where it is not seen which rows are samples.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <cstdio>
#include <tuple>
#include <vector>

//--- trained_rows.cpp
// form: full-batch training, where what is trained has a row for each sample
#include "program.h"

int main() {
  auto x = torch::randn({50, 4}), y = torch::randn({50, 1});
  auto offset = torch::zeros({50, 1}, torch::requires_grad());
  torch::nn::Linear net(4, 1);
  auto trained = net->parameters();
  trained.push_back(offset);
  torch::optim::SGD optimizer(trained, 0.05);
  for (int epoch = 0; epoch < 8; ++epoch) {
    optimizer.zero_grad();
    auto loss = (net(x) + offset - y).pow(2).mean();  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- trained_picture.cpp
// form: full-batch training of a tensor itself
#include "program.h"

int main() {
  auto wanted = torch::randn({8, 5});
  auto picture = torch::zeros({8, 5}, torch::requires_grad());
  torch::optim::Adam optimizer({picture}, 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(picture, wanted);  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- trained_picture_in_a_layer.cpp
#include "program.h"

int main() {
  auto wanted = torch::randn({8, 5});
  auto picture = torch::zeros({8, 5}, torch::requires_grad());
  torch::optim::Adam optimizer({picture}, 0.01);
  torch::nn::MSELoss criterion;
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = criterion(picture, wanted);  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- trained_directions.cpp
#include "program.h"

int main() {
  auto x = torch::randn({50, 4});
  auto wanted = torch::randn({50, 4}, torch::requires_grad());
  torch::nn::Linear net(4, 4);
  auto trained = net->parameters();
  trained.push_back(wanted);
  torch::optim::SGD optimizer(trained, 0.05);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = (1 - torch::cosine_similarity(net(x), wanted)).mean();  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- factors.cpp
#include "program.h"

int main() {
  auto ratings = torch::rand({12, 9});
  auto u = torch::randn({12, 3}, torch::requires_grad()), v = torch::randn({9, 3}, torch::requires_grad());
  torch::optim::SGD optimizer({u, v}, 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = (u.mm(v.t()) - ratings).pow(2).mean();  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- graph.cpp
// form: full-batch training on a graph
#include "program.h"

int main() {
  auto x = torch::randn({30, 5}), neighbours = torch::rand({30, 30});
  auto y = torch::randint(0, 3, {30});
  torch::nn::Linear net(5, 3);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::nll_loss(torch::log_softmax(neighbours.mm(net(x)), 1), y);
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- edges.cpp
#include "program.h"

int main() {
  auto x = torch::randn({30, 5});
  auto from = torch::randint(0, 30, {90}), to = torch::randint(0, 30, {90}), y = torch::randint(0, 3, {30});
  torch::nn::Linear net(5, 3);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto sums = torch::zeros_like(x).index_add(0, to, x.index_select(0, from));
    auto loss = torch::cross_entropy_loss(net(sums), y);
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- text.cpp
// form: full-batch training on a text and the same text shifted by one
#include "program.h"

int main() {
  auto text = torch::randint(0, 9, {61});
  torch::nn::Embedding table(9, 9);
  torch::optim::SGD optimizer(table->parameters(), 0.5);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(table(text.slice(0, 0, 60)), text.slice(0, 1));
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- columns.cpp
// form: full-batch training, samples in columns
#include "program.h"

int main() {
  auto x = torch::randn({4, 50}), y = torch::randn({1, 50});
  auto w = torch::randn({1, 4}, torch::requires_grad());
  torch::optim::SGD optimizer({w}, 0.05);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = (w.mm(x) - y).pow(2).mean();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- time_first.cpp
// form: full-batch training of a sequence, time first
#include "program.h"

int main() {
  auto x = torch::randn({20, 6, 4}), y = torch::randn({20, 6, 3});
  torch::nn::LSTM net(torch::nn::LSTMOptions(4, 3));
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(std::get<0>(net->forward(x)), y);
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- changed.cpp
// form: full-batch training on data that the steps change
#include "program.h"

int main() {
  auto x = torch::randn({30, 5}), y = torch::randn({30, 1});
  torch::nn::Linear net(5, 1);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(x), y);
    loss.backward();  // refused: HVD3021
    optimizer.step();
    x.mul_(0.9);
  }
}

//--- one_sample.cpp
#include "program.h"

int main() {
  auto x = torch::randn({1, 5}), y = torch::randn({1, 2});
  torch::nn::Linear net(5, 2);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(x), y);
    loss.backward();  // refused: HVD3021
    optimizer.step();
  }
}

//--- one_vector.cpp
// form: a vector of features as the only sample
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 5))) {}
  torch::Tensor forward(torch::Tensor x) { return line(x); }
  torch::nn::Linear line;
};
TORCH_MODULE(Net);

std::tuple<torch::Tensor, torch::Tensor> make() {
  torch::Tensor x = torch::tensor({1.0, 2.0, 3.0, 4.0, 5.0}), y = torch::tensor({3.0, 5.0, 7.0, 9.0, 11.0});
  return std::make_tuple(x, y);
}

int main() {
  auto data = make();
  auto x = std::get<0>(data), y = std::get<1>(data);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(x), y);
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- equation.cpp
// form: derivatives with respect to points that all steps use
#include "program.h"

int main() {
  auto x = torch::linspace(0, 1, 50).unsqueeze(1).requires_grad_(true);
  torch::nn::Sequential net(torch::nn::Linear(1, 12), torch::nn::Tanh(), torch::nn::Linear(12, 1));
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto u = net->forward(x);
    auto slope = torch::autograd::grad({u}, {x}, {torch::ones_like(u)}, true, true)[0];
    auto loss = (slope - u).pow(2).mean();
    loss.backward();  // refused: HVD3021
    optimizer.step();
  }
}

//--- rows_of_a_longer_tensor.cpp
// form: full-batch training, sample by sample, with labels that may be more than the samples
#include "program.h"

int main() {
  auto x = torch::randn({20, 5}), y = torch::randn({40, 3});
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int e = 0; e < 4; ++e) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({1});
    for (int64_t i = 0; i < x.size(0); ++i) loss = loss + torch::mse_loss(net(x[i]), y[i]);
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
