// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which learning-rate rule an optimizer of the training core asks for, where only the running program knows its class.

#include <hvd/dist/session.hpp>
#include <hvd/optim/optimizer.hpp>

namespace hvd {

/// The rule of these options by their class: `sqrt` for adaptive optimizers (Adam, AdamW, RMSprop, LAMB), `linear` for SGD and LARS (Goyal et al.
/// 2017; Krizhevsky 2014). Options of another class throw hvd::Error. Local.
LrRule rule_of(const optim::OptimizerOptions& options);
/// The rule of the optimizer: that of its first parameter group.
LrRule rule_of(const optim::Optimizer& optimizer);

}  // namespace hvd
