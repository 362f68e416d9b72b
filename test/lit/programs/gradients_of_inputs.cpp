// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Gradients of the samples themselves: each rank has those of its own, and nothing of them is added up before it is read.

//--- adversarial.cpp
#include <cstdio>

#include <hvd/hvd.hpp>

#include "parts.h"

namespace F = hvd::nn::functional;

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& [x, y] : *loader) {
    auto probe = x.detach().clone().requires_grad_(true);
    F::cross_entropy(net(probe), y).backward();
    // CHECK: hvd::weighted(F::cross_entropy(net(probe), y), hvd::LossKind::mean).backward();
    // CHECK-NEXT: auto g = probe.grad();
    auto g = probe.grad();
    auto other = x + g / (g.abs() + 1e-12) * 0.05;
    opt.zero_grad();
    auto loss = F::cross_entropy(net(other), y);
    loss.backward();
    opt.step();
    // CHECK: hvd::batch_sum(g.abs().sum().item<double>())
    std::printf("%.10f\n", g.abs().sum().item<double>());
  }
}

//--- norm.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

namespace F = hvd::nn::functional;

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& [x, y] : *loader) {
    auto probe = x.detach().clone().requires_grad_(true);
    F::cross_entropy(net(probe), y).backward();
    auto g = probe.grad();
    // CHECK: auto other = x + g / hvd::gather(g).norm() * 0.05;
    auto other = x + g / g.norm() * 0.05;
    opt.zero_grad();
    auto loss = F::cross_entropy(net(other), y);
    loss.backward();
    opt.step();
  }
}
