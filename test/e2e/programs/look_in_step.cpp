// SPDX-License-Identifier: Apache-2.0
// e2e: name=look_in_step; modes=global; timeout=60
// In a step: a look at data that every rank has whole, by the helpers of the training loop (a mean over counted terms, a mean, a count),
// gradients clipped by functions that stand apart from the step, labels filled with random numbers where they are made.
#include <hvd/hvd.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

struct NetImpl : nn::Module {
  NetImpl() {
    a = register_module("a", nn::Linear(2, 8));
    b = register_module("b", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) { return b->forward(a->forward(x).tanh()); }
  nn::Linear a{nullptr}, b{nullptr};
};
HVD_MODULE(Net);

struct Batch {
  Tensor x, y;
};

std::vector<Batch> batches_of(int64_t samples, int64_t rows, double phase) {
  std::vector<Batch> out;
  for (int64_t first = 0; first < samples; first += rows) {
    std::vector<double> x;
    std::vector<int64_t> y;
    for (int64_t i = first; i < std::min(first + rows, samples); ++i) {
      const double a = std::sin(0.7 * static_cast<double>(i) + phase), b = std::cos(1.3 * static_cast<double>(i));
      x.push_back(a);
      x.push_back(b);
      y.push_back(i % 4 == 1 ? -1 : (a > b ? 1 : (a > 0 ? 2 : 0)));
    }
    out.push_back({hvd::tensor(x).view({-1, 2}), hvd::tensor(y)});
  }
  return out;
}

Tensor loss_of(Net& net, const Tensor& x, const Tensor& y) {
  return F::cross_entropy(net->forward(x), y.flatten(), F::CrossEntropyFuncOptions().ignore_index(-1));
}

double accuracy(Net& net, const Tensor& x, const Tensor& y) {
  return static_cast<double>(net->forward(x).argmax(1).eq(y).sum().item<int64_t>()) / static_cast<double>(x.size(0));
}

double look(Net& net, const std::vector<Batch>& some) {
  hvd::NoGradGuard no_grad;
  double total = 0;
  for (size_t i = 0; i < some.size(); ++i) total += loss_of(net, some[i].x, some[i].y).item<double>();
  return total / static_cast<double>(some.size());
}

double norm_of(const std::vector<Tensor>& weights) {
  double squares = 0;
  for (const auto& w : weights) {
    const double n = w.grad().norm().item<double>();
    squares += n * n;
  }
  return std::sqrt(squares);
}

double clip(const std::vector<Tensor>& weights, double most) {
  hvd::NoGradGuard no_grad;
  const double norm = norm_of(weights);
  if (norm > most)
    for (const auto& w : weights) w.grad().mul_(most / norm);
  return norm;
}

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const int64_t rows = 6;

  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05));
  const std::vector<Tensor> weights = net->parameters();
  const std::vector<Batch> training = batches_of(50, rows, 0.0), validation = batches_of(9, 4, 0.4);
  std::cout << std::setprecision(10) << training.back().x.size(1) << '\n';
  int step = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& batch : training) {
      opt.zero_grad();
      const Tensor soft = hvd::empty({batch.x.size(0), 3}).uniform_(0.8, 1.0);
      const Tensor loss = loss_of(net, batch.x, batch.y) + F::mse_loss(net->forward(batch.x), soft);
      loss.backward();
      const double norm = clip(weights, 0.2);
      opt.step();
      std::cout << norm << ' ' << accuracy(net, batch.x, batch.y) << '\n';
      if (++step % 2 == 0) std::cout << step << ' ' << look(net, validation) << ' ' << accuracy(net, validation[0].x, validation[0].y) << '\n';
    }
  }
  hvd::save(net, "net.safetensors");
}
