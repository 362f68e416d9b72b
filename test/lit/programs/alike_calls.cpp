// SPDX-License-Identifier: Apache-2.0
// Helpers of the training loop, called in a step with data that all ranks have whole; gradients clipped by functions of the author's.
// RUN: %golden
//--- counted_loss.cpp
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

struct Batch {
  hvd::Tensor x, y;
};

hvd::Tensor loss_of_tokens(Net& net, const hvd::Tensor& x, const hvd::Tensor& y) {
  return hvd::nn::functional::cross_entropy(net(x), y.flatten(), hvd::nn::CrossEntropyLossOptions().ignore_index(2));
}

double look(Net& net, const std::vector<Batch>& some) {
  double total = 0;
  for (size_t i = 0; i < some.size(); ++i) total += loss_of_tokens(net, some[i].x, some[i].y).item<double>();
  return total / some.size();
}
// CHECK: return hvd::counted_mean(hvd::nn::functional::cross_entropy(net(x), y.flatten(), hvd::nn::CrossEntropyLossOptions().ignore_index(2)), hvd::counted_terms(y.flatten(), hvd::nn::CrossEntropyLossOptions().ignore_index(2)));
// CHECK: total += hvd::outside_step().keep(loss_of_tokens(net, some[i].x, some[i].y)).item<double>();

// CHECK: {{^  }}hvd::reduce_gradients(opt);
// CHECK-NEXT: clip(weights, 1.0);
// CHECK-NEXT: opt.step();
double norm_of(const std::vector<hvd::Tensor>& weights) {
  double squares = 0;
  for (const auto& w : weights) {
    const double n = w.grad().norm().item<double>();
    squares += n * n;
  }
  return std::sqrt(squares);
}

void clip(const std::vector<hvd::Tensor>& weights, double most) {
  const double norm = norm_of(weights);
  if (norm > most)
    for (const auto& w : weights) w.grad().mul_(most / norm);
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::vector<hvd::Tensor> weights = net->parameters();
  std::vector<Batch> training, validation;
  for (int i = 0; i < 4; ++i) training.push_back({hvd::randn({10, 8}), hvd::randint(0, 3, {10})});
  for (int i = 0; i < 2; ++i) validation.push_back({hvd::randn({10, 8}), hvd::randint(0, 3, {10})});
  int step = 0;
  for (const auto& batch : training) {
    opt.zero_grad();
    auto loss = loss_of_tokens(net, batch.x, batch.y);
    loss.backward();
    clip(weights, 1.0);
    opt.step();
    if (++step % 2 == 0) std::printf("%d %f\n", step, look(net, validation));
  }
}
//--- clipped_apart.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

double largest(Net& net) {
  double most = 0;
  for (const auto& p : net->parameters()) most = std::max(most, p.grad().abs().max().item<double>());
  return most;
}

int main() {
  Net net;
  hvd::optim::SGD one(net->hidden->parameters(), hvd::optim::SGDOptions(0.1)), two(net->out->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    one.zero_grad();
    two.zero_grad();
    loss_of(net, batch).backward();
    one.step();
    two.step();
    if (largest(net) > 100) break;  // refused: HVD3015
  }
}
