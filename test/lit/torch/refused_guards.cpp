// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Guards that stand single samples up, which batches enter, or may enter: a batch would then be one sample, of which every rank has a part.

//--- program.h
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first{register_module("first", torch::nn::Linear(4, 3))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(3, 1))};
  torch::Tensor forward(torch::Tensor x) {
    x = first->forward(x);
    if (x.dim() == 2) x = x.unsqueeze(0);
    x = torch::softmax(x, 1);
    return last->forward(x);
  }
};
TORCH_MODULE(Net);

//--- entered.cpp
// form: a guard for single samples that every batch enters
#include "program.h"

int main() {
  auto x = torch::randn({45, 4}), y = torch::randn({45, 1});
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t i = 0; i < 45; i += 9) {
    auto loss = torch::mse_loss(net->forward(x.slice(0, i, i + 9)), y.slice(0, i, i + 9));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- second_entered.cpp
// form: a guard for single samples that the batches of a second training enter
#include "program.h"

int main() {
  auto deep = torch::randn({45, 2, 4}), targets = torch::randn({45, 2, 1});
  auto x = torch::randn({45, 4}), y = torch::randn({45, 1});
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t i = 0; i < 45; i += 9) {
    auto loss = torch::mse_loss(net->forward(deep.slice(0, i, i + 9)), targets.slice(0, i, i + 9));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
  for (int64_t i = 0; i < 45; i += 9) {
    auto loss = torch::mse_loss(net->forward(x.slice(0, i, i + 9)), y.slice(0, i, i + 9));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- reshaped.cpp
// form: a guard for single samples, behind a reshape that depends on the argument list
#include "program.h"

int main(int argc, char**) {
  auto x = torch::randn({45, 4}), y = torch::randn({45, 1});
  if (argc > 1) x = x.view({45, 1, 4}), y = y.view({45, 1, 1});
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t i = 0; i < 45; i += 9) {
    auto loss = torch::mse_loss(net->forward(x.slice(0, i, i + 9)), y.slice(0, i, i + 9));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- transformed.cpp
// form: a guard for single samples, behind a transformation of the author's
#include "program.h"

struct Lines : torch::data::datasets::Dataset<Lines> {
  torch::Tensor x = torch::randn({45, 2, 4});
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], torch::ones({1})}; }
  torch::optional<size_t> size() const override { return 45; }
};

int main() {
  auto first = torch::data::transforms::Lambda<torch::data::Example<>>([](torch::data::Example<> one) { return torch::data::Example<>(one.data[0], one.target); });
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(first).map(torch::data::transforms::Stack<>()), 9);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
