// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- root.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).square().sum().sqrt().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- extremum.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    auto largest = out.max();
    (out - largest).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- mixed.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto terms = net(batch.data).square();
    (terms.mean() + terms.sum()).backward();  // refused: HVD3025
    opt.step();
  }
}
//--- largest.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).max().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- rates.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

// One step grows with the batch, the other does not: which rule is meant?
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto terms = net(batch.data).square();
    if (batch.data.size(1) > 3) terms.mean().backward();  // refused: HVD3025
    else terms.sum().backward();
    opt.step();
  }
}
//--- several_batches.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto sum = hvd::zeros({1});
  int i = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    sum = sum + loss_of(net, batch);
    if (++i % 2 == 0) {
      sum.backward();  // refused: HVD3010
      opt.step();
      sum = hvd::zeros({1});
    }
  }
}
//--- two_batches.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto others = hvd::data::make_data_loader(samples(15), hvd::data::DataLoaderOptions(5));
  for (auto& batch : *loader) {
    opt.zero_grad();
    for (auto& other : *others) {
      auto loss = loss_of(net, batch) + loss_of(net, other);  // refused: HVD3012
      loss.backward();
      opt.step();
    }
  }
}
//--- unseen_function.cpp
#include <hvd/hvd.hpp>

#include <functional>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::function<hvd::Tensor(const hvd::Tensor&)> scale = std::bind([](double s, const hvd::Tensor& x) { return x * s; }, 2.0, std::placeholders::_1);
  for (auto& batch : *loader) {
    opt.zero_grad();
    scale(loss_of(net, batch)).backward();  // refused: HVD3010
    opt.step();
  }
}
