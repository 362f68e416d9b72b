// SPDX-License-Identifier: Apache-2.0
// e2e: edit=at += 8, ++k => at += {8*N}, ++k; edit=min<int64_t>(8, => min<int64_t>({8*N},; edit=batch = 6 => batch = {6*N}; edit=first += 10 => first += {10*N}; edit=begin + 10, => begin + {10*N},; edit=size = 2 => size = {2*N}; edit=size * 2, 8) => size * 2, {8*N}); edit=whole = 5) => whole = {5*N}); edit=at / 8 => at / {8*N}; edit=rate = 0.02 => rate = {0.02*N}; ranks=1,2,3; timeout=60
// Batches cut by hand, in per-rank mode too: beside another counter, in parts of a size, from a list of where they begin, of a size that grows up to
// a limit, or of one that calls leave out.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

using hvd::Tensor;

struct Learner {
  hvd::nn::Sequential net{hvd::nn::Linear(4, 5), hvd::nn::Tanh(), hvd::nn::Linear(5, 1)};
  hvd::optim::SGD opt;
  explicit Learner(double rate = 0.02) : opt(net->parameters(), hvd::optim::SGDOptions(rate)) {}
  void operator()(const Tensor& x, const Tensor& y) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    std::cout << loss.item<double>() << "\n";
  }
};

struct Grower {
  int64_t size = 2;
  void operator()(Learner& learn, const Tensor& x, const Tensor& y) {
    for (int64_t at = 0; at < x.size(0); at += size) learn(x.slice(0, at, std::min(at + size, x.size(0))), y.slice(0, at, std::min(at + size, x.size(0))));
    size = std::min<int64_t>(size * 2, 8);
  }
};

void all(Learner& learn, const Tensor& x, const Tensor& y, int64_t whole = 5) {
  for (int64_t at = 0; at < x.size(0); at += whole) learn(x.slice(0, at, std::min(at + whole, x.size(0))), y.slice(0, at, std::min(at + whole, x.size(0))));
}

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(8);
  std::cout.precision(11);
  const auto x = hvd::randn({53, 4}), y = x.sum(1).tanh().unsqueeze(1);
  Learner learn;
  for (int64_t at = 0, k = 0; at < 53; at += 8, ++k) {
    const int64_t rows = std::min<int64_t>(8, 53 - at);
    learn(x.narrow(0, at, rows), y.narrow(0, at, rows));
    std::cout << k << " " << at / 8 << "\n";
  }
  std::vector<int64_t> begins;
  for (int64_t first = 0; first < 53; first += 10) begins.push_back(first);
  for (int64_t begin : begins) {
    const int64_t end = std::min<int64_t>(begin + 10, 53);
    learn(x.slice(0, begin, end), y.slice(0, begin, end));
  }
  const int64_t batch = 6, part = batch / 2;
  for (int64_t at = 0; at + batch <= 53; at += batch) {
    learn.opt.zero_grad();
    for (int64_t k = at; k < at + batch; k += part) {
      auto loss = hvd::nn::functional::mse_loss(learn.net->forward(x.slice(0, k, k + part)), y.slice(0, k, k + part)) / (batch / part);
      loss.backward();
    }
    learn.opt.step();
  }
  Grower grow;
  for (int epoch = 0; epoch < 4; ++epoch) grow(learn, x, y);
  all(learn, x, y);
  hvd::save(learn.net, "net.safetensors");
}
