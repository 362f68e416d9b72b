// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which learning-rate rule a LibTorch optimizer asks for, where only the running program knows its class.

#include <hvd/dist/session.hpp>
#include <torch/optim/optimizer.h>

namespace hvd {

/// The rule of these options by their class: `sqrt` for adaptive optimizers (Adam, AdamW, Adagrad, RMSprop), `linear` for SGD (Goyal et
/// al. 2017; Krizhevsky 2014), `none` for LBFGS, whose steps are as long as the curvature asks (Nocedal and Wright 2006, chapter 7). Options of another class throw c10::Error. Local.
LrRule rule_of(const torch::optim::OptimizerOptions& options);
/// The rule of the optimizer: that of the options it was made with.
LrRule rule_of(const torch::optim::Optimizer& optimizer);

}  // namespace hvd
