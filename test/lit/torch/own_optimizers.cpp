// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Optimizers of the program's own, derived from the framework's.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <memory>
#include <utility>
#include <vector>

template <class Optimizer>
void train(torch::nn::Linear& net, Optimizer& optimizer) {
  auto set = torch::data::datasets::TensorDataset(torch::randn({40, 5})).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader(std::move(set), 8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    net(batch.data).pow(2).mean().backward();
    optimizer.step();
  }
}

//--- without_a_step.cpp
#include "program.h"

// Its steps are those of Adam, and so is the rule by which its rate grows.
class Counted : public torch::optim::Adam {
 public:
  Counted(std::vector<torch::Tensor> list, double rate) : Adam(std::move(list), torch::optim::AdamOptions(rate)) {}
  int epochs = 0;
};

// CHECK: Counted optimizer(net->parameters(), hvd::scaled_lr(0.01, hvd::LrRule::sqrt));
// CHECK-NEXT: hvd::broadcast(net, optimizer);
int main() {
  torch::nn::Linear net(5, 3);
  Counted optimizer(net->parameters(), 0.01);
  train(net, optimizer);
}

//--- with_a_step.cpp
#include "program.h"

struct SignsOptions : torch::optim::OptimizerCloneableOptions<SignsOptions> {
  SignsOptions(double rate) : rate(rate) {}
  double get_lr() const override { return rate; }
  void set_lr(const double value) override { rate = value; }
  double rate;
};

class Signs : public torch::optim::Optimizer {
 public:
  Signs(std::vector<torch::Tensor> list, SignsOptions options) : Optimizer({torch::optim::OptimizerParamGroup(std::move(list))}, std::make_unique<SignsOptions>(options)) {}
  torch::Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard guard;
    for (auto& group : param_groups_)
      for (auto& p : group.params())
        if (p.grad().defined()) p.add_(p.grad().sign(), -group.options().get_lr());
    return {};
  }
};

// How its rate is to grow with the batch is not known: batches stay as large as they are.
// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
// CHECK: Signs optimizer(net->parameters(), SignsOptions(0.01));
// CHECK-NEXT: hvd::broadcast(net, optimizer);
int main() {
  torch::nn::Linear net(5, 3);
  Signs optimizer(net->parameters(), SignsOptions(0.01));  // says: HVD2010
  train(net, optimizer);
}
