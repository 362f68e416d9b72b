// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- no_optimizer_near.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// Called for the gradients of whichever model: no place has the optimizer that steps.
struct Clipper {
  virtual ~Clipper() = default;
  virtual void clip(Net& net) { hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0); }  // refused: HVD3015
};

void backward(Net& net, Clipper& clipper, const hvd::Tensor& loss) {
  loss.backward();
  clipper.clip(net);
}

void step(hvd::optim::Optimizer& optimizer) { optimizer.step(); }

int main() {
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::SGD second(other->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Clipper clipper;
  for (auto& batch : *loader) {
    opt.zero_grad();
    second.zero_grad();
    backward(net, clipper, loss_of(net, batch));
    backward(other, clipper, loss_of(other, batch));
    step(opt);
    step(second);
  }
}
//--- several_steps.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD warm(net->parameters(), hvd::optim::SGDOptions(0.01));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 2; ++epoch)
  for (auto& batch : *loader) {
    net->zero_grad();
    loss_of(net, batch).backward();
    hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);  // refused: HVD3015
    if (epoch == 0) {
      warm.step();
    } else {
      opt.step();
    }
  }
}
