// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// One text that means different things in the instantiations of a template: an edit there would serve one of them only.
//--- parts.h
#pragma once
#include <hvd/hvd.hpp>

#include <cstdio>

namespace F = hvd::nn::functional;
struct Parts {
  hvd::Tensor x = hvd::randn({40, 4}), y = hvd::randint(0, 3, {40}, hvd::kInt64);
  hvd::nn::Linear net{4, 3};
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
};

//--- kinds.cpp
#include "parts.h"

template <class T>
T as(const hvd::Tensor& t) {
  return t.item<T>();  // refused: HVD3012
}

int main() {
  Parts p;
  double loss_sum = 0;
  int64_t hits = 0;
  for (int64_t i = 0; i < 40; i += 8) {
    auto out = p.net->forward(p.x.slice(0, i, i + 8)), by = p.y.slice(0, i, i + 8);
    auto loss = F::cross_entropy(out, by);
    p.opt.zero_grad();
    loss.backward();
    p.opt.step();
    loss_sum += as<double>(loss);
    hits += as<int64_t>(out.argmax(1).eq(by).sum());
  }
  std::printf("%f %ld\n", loss_sum, static_cast<long>(hits));
}

//--- counts.cpp
#include "parts.h"

struct Rows {};
struct Weights {};

template <class Of>
struct Counter {
  int64_t n = 0;
  void add(const hvd::Tensor& t) { n += t.numel(); }  // refused: HVD3012
};

int main() {
  Parts p;
  Counter<Rows> rows;
  Counter<Weights> weights;
  for (int64_t i = 0; i < 40; i += 8) {
    auto loss = F::cross_entropy(p.net->forward(p.x.slice(0, i, i + 8)), p.y.slice(0, i, i + 8));
    p.opt.zero_grad();
    loss.backward();
    p.opt.step();
    rows.add(p.x.slice(0, i, i + 8));
    weights.add(p.net->weight);
  }
  std::printf("%ld %ld\n", static_cast<long>(rows.n), static_cast<long>(weights.n));
}

//--- alike.cpp
#include "parts.h"

// Where all of them need the same, they get it.
// CHECK: return hvd::batch_mean(t.item<T>());
template <class T>
T as(const hvd::Tensor& t) {
  return t.item<T>();
}

int main() {
  Parts p;
  double sum = 0;
  float again = 0;
  for (int64_t i = 0; i < 40; i += 8) {
    auto loss = F::cross_entropy(p.net->forward(p.x.slice(0, i, i + 8)), p.y.slice(0, i, i + 8));
    p.opt.zero_grad();
    loss.backward();
    p.opt.step();
    sum += as<double>(loss);
    again += as<float>(loss);
  }
  std::printf("%f %f\n", sum, static_cast<double>(again));
}
