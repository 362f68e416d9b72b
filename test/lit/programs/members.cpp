// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Optimizers that are members of a class without a constructor; rates in a list.

//--- variables.cpp
#include <cstdio>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Trainer {
  Net net;
  // CHECK: hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1))};
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
  double step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    return loss.item<double>();
  }
};

int main() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: Trainer one;
  // CHECK-NEXT: hvd::broadcast(one.net, one.opt);
  // CHECK: Trainer two{};
  // CHECK-NEXT: hvd::broadcast(two.net, two.opt);
  Trainer one;
  Trainer two{};
  for (auto& batch : *loader) std::printf("%g %g\n", one.step(batch), two.step(batch));
}

//--- elsewhere.cpp
#include <memory>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Trainer {
  Net net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};  // refused: HVD3015
};

int main() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Trainer here;
  auto trainer = std::make_unique<Trainer>();
  for (auto& batch : *loader) {
    for (Trainer* t : {&here, trainer.get()}) {
      t->opt.zero_grad();
      loss_of(t->net, batch).backward();
      t->opt.step();
    }
  }
}

//--- rates.cpp
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

const double base = 0.2;

void train(double rate, int64_t size) {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(size));
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() {
  // CHECK: for (double rate : {hvd::scaled_lr(0.1), hvd::scaled_lr(base), hvd::scaled_lr(base) / 2})
  // CHECK-NEXT: for (int64_t size : {hvd::global_batch_size(8), hvd::global_batch_size(16)}) train(rate, size);
  for (double rate : {0.1, base, base / 2})
    for (int64_t size : {8, 16}) train(rate, size);
}

//--- table.cpp
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: const std::vector<double> rates{hvd::scaled_lr(0.1), hvd::scaled_lr(0.01)};
  const std::vector<double> rates{0.1, 0.01};
  // CHECK: for (double rate : rates) {
  for (double rate : rates) {
    Net net;
    // CHECK: hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
  }
}
//--- member_of_another.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// The parameters are those of a member that has no name where the optimizer is made.
struct Model {
  virtual ~Model() = default;
  virtual hvd::Tensor forward(const hvd::Tensor& x) = 0;
  virtual std::vector<hvd::Tensor> parameters() = 0;
};

struct Held : Model {
  Net inner;
  hvd::Tensor forward(const hvd::Tensor& x) override { return inner(x); }
  std::vector<hvd::Tensor> parameters() override { return inner->parameters(); }
};

// CHECK-LABEL: void train(
// CHECK: hvd::optim::SGD opt(model.parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
// CHECK-NEXT: hvd::broadcast(opt);
void train(Model& model) {
  hvd::optim::SGD opt(model.parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(model.forward(batch.data), batch.target).backward();
    opt.step();
  }
}

int main() {
  Held held;
  train(held);
}
