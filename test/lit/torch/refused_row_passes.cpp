// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Passes of single samples through a model, in a loop over those of a batch, where a pass leaves something behind: each rank makes as many passes as it
// has samples.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <cstdio>
#include <vector>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

inline auto make_loader(int64_t size) { return torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(size)); }

//--- counted.cpp
// form: a model that counts its passes, one for each sample
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    ++calls;
    return line(x);
  }
  torch::nn::Linear line;
  int calls = 0;
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- kept.cpp
// form: a model that keeps what it made of a sample
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    last = line(x);
    return last;
  }
  torch::nn::Linear line;
  torch::Tensor last;
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- in_place.cpp
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    x += 1;  // refused: HVD3012
    return line(x);
  }
  torch::nn::Linear line;
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- printed.cpp
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    if (loud) std::printf("a pass\n");
    return line(x);
  }
  torch::nn::Linear line;
  bool loud = false;
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- left_early.cpp
// form: a loop over the samples of a batch that is left early
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    return line(x);
  }
  torch::nn::Linear line;
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      if (loss.item<float>() > 3) break;  // refused: HVD3012
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- normalised.cpp
#include "program.h"

struct NetImpl : torch::nn::Module {
  NetImpl() : line(register_module("line", torch::nn::Linear(5, 3))) {}
  torch::Tensor forward(torch::Tensor x) {
    return line(norm(x));
  }
  torch::nn::Linear line;
  torch::nn::BatchNorm1d norm{register_module("norm", torch::nn::BatchNorm1d(5))};
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      loss = loss + F::cross_entropy(net(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    }
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- counted_in_a_container.cpp
// form: a model that counts its passes, inside of a container of layers
#include "program.h"

struct CountingImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    ++calls;
    return x;
  }
  int calls = 0;
};
TORCH_MODULE(Counting);

int main() {
  torch::nn::Sequential net(Counting(), torch::nn::Linear(5, 3));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t i = 0; i < batch.data.size(0); ++i) loss = loss + F::cross_entropy(net->forward(batch.data[i].unsqueeze(0)), batch.target[i].unsqueeze(0));
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
