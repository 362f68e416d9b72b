// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Numbers of a step that the next one reads, kept in ways that are not followed to where they are given: the ranks had other shares of that batch.

//--- program.h
#include <torch/torch.h>

#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#define STEP                                          \
  auto h = torch::tanh(net->forward(x.slice(0, i, i + 8))); \
  auto loss = torch::mse_loss(h, y.slice(0, i, i + 8)); \
  optimizer.zero_grad();                              \
  loss.backward();                                    \
  optimizer.step();
#define DATA                                                 \
  torch::nn::Linear net(3, 1);                               \
  auto x = torch::randn({43, 3}), y = torch::randn({43, 1}); \
  torch::optim::SGD optimizer(net->parameters(), 0.1);

//--- lambda.cpp
// form: a loss kept for the next step by a lambda
#include "program.h"
int main() {
  DATA
  torch::Tensor last = torch::zeros({});
  auto keep = [&](const torch::Tensor& t) { last = t; };
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    std::printf("%f\n", (loss - last).abs().item<double>());  // refused: HVD3012
    // says: a number of an earlier batch
    keep(loss.detach());
  }
}

//--- pointer.cpp
// form: a mean kept for the next step through a pointer
#include "program.h"
void keep(torch::Tensor* to, const torch::Tensor& rows) { *to = rows.mean(0); }
int main() {
  DATA
  torch::Tensor mean = torch::zeros({1});
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    std::printf("%f\n", mean.sum().item<double>());  // refused: HVD3012
    // says: a number of an earlier batch
    keep(&mean, h.detach());
  }
}

//--- tied.cpp
// form: numbers kept for the next step by std::tie
#include "program.h"
int main() {
  DATA
  torch::Tensor a = torch::zeros({1}), b = torch::zeros({});
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    std::printf("%f\n", a.sum().item<double>());  // refused: HVD3012
    // says: a number of an earlier batch
    std::tie(a, b) = std::make_tuple(h.detach().mean(0), loss.detach());
  }
}

//--- made.cpp
// form: a struct of means that a function makes, kept for the next step
#include "program.h"
struct Means {
  torch::Tensor mean, square;
};
Means means_of(const torch::Tensor& rows) { return {rows.mean(0), rows.pow(2).mean(0)}; }
int main() {
  DATA
  Means kept{torch::zeros({1}), torch::zeros({1})};
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    std::printf("%f\n", (kept.mean + kept.square).sum().item<double>());  // refused: HVD3012
    // says: a number of an earlier batch
    kept = means_of(h.detach());
  }
}

//--- referred.cpp
// form: a mean given to what a function refers to
#include "program.h"
torch::Tensor& slot() {
  static torch::Tensor mean = torch::zeros({1});
  return mean;
}
int main() {
  DATA
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    std::printf("%f\n", slot().sum().item<double>());
    slot() = h.detach().mean(0);  // refused: HVD3012
    // says: what a function refers to is given a value of the batch
  }
}

//--- exchanged.cpp
// form: rows kept for the next step by std::exchange
#include "program.h"
int main() {
  DATA
  torch::Tensor last = torch::zeros({8, 1});
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    auto before = std::exchange(last, h.detach());
    std::printf("%f\n", before.sum().item<double>());  // refused: HVD3012
    // says: rows of this batch are kept for a later step
  }
}

//--- written.cpp
// form: a sum over the batch by sum_out()
#include "program.h"
int main() {
  DATA
  torch::Tensor total = torch::zeros({1});
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    torch::sum_out(total, h.detach(), 0);
    std::printf("%f\n", total.sum().item<double>());  // refused: HVD3012
    // says: a function that hvdize does not know puts values
  }
}

//--- dictionary.cpp
// form: a loss put into a c10::Dict
#include "program.h"
int main() {
  DATA
  c10::Dict<std::string, torch::Tensor> values;
  for (int64_t i = 0; i < 43; i += 8) {
    STEP
    values.insert("loss", loss.detach());
    std::printf("%f\n", values.at("loss").item<double>());  // refused: HVD3012
    // says: a function that hvdize does not know puts values
  }
}
