// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- constructor.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: Trainer() : opt(net->parameters(), hvd::scaled_lr(0.1)) {
// CHECK-NEXT: net->train();
// CHECK-NEXT: hvd::broadcast(net, opt);
struct Trainer {
  Trainer() : opt(net->parameters(), 0.1) {
    net->train();
  }
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  Net net;
  hvd::optim::SGD opt;
};

int main() { Trainer().run(); }
//--- initialised.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: net->train();
// CHECK-NEXT: hvd::broadcast(net, opt);
struct Trainer {
  Trainer() {
    net->train();
  }
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  Net net;
  hvd::optim::SGD opt{net->parameters(), 0.1};
};

int main() { Trainer().run(); }
//--- parameters_given.cpp
#include <utility>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

// The model has no name where the optimizer is made from a list of its parameters.
// CHECK: explicit Wrapped(std::vector<hvd::Tensor> list) : parameters(std::move(list)), inner(parameters, hvd::scaled_lr(0.1)) {
// CHECK-NEXT: steps = 0;
// CHECK-NEXT: hvd::broadcast(inner);
class Wrapped {
 public:
  explicit Wrapped(std::vector<hvd::Tensor> list) : parameters(std::move(list)), inner(parameters, 0.1) {
    steps = 0;
  }
  void zero_grad() { inner.zero_grad(); }
  void step() {
    // CHECK: hvd::reduce_gradients(inner);
    inner.step();
    ++steps;
  }

 private:
  std::vector<hvd::Tensor> parameters;
  hvd::optim::SGD inner;
  int steps;
};

int main() {
  Net net;
  Wrapped opt(net->parameters());
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
