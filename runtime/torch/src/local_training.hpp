// SPDX-License-Identifier: Apache-2.0
#pragma once

// Local steps of LibTorch's optimizers: their parameters and state are averaged now and then, their gradients never.

#include <memory>
#include <unordered_set>
#include <vector>

#include <torch/optim/optimizer.h>

#include "dist/strategy/averager.hpp"

namespace hvd::torch_binding {

class LocalTraining final : public dist::LocalSteps {
 public:
  using LocalSteps::LocalSteps;

  struct Entry {
    torch::optim::Optimizer* optimizer;
    std::uint64_t backwards = 0;  // those that a step has used
    std::int64_t steps = 0, warmup_steps = -1;  // -1: not known yet
    double set_factor = 1;  // of the learning rate, by the last warm-up step
    Progress progress;
  };
  /// The entry of the optimizer, which must live as long as the loop that it steps in; `start`: of a new one.
  Entry& entry_of(torch::optim::Optimizer& optimizer, const Entry& start);
  /// The optimizer is about to step with the gradients of this rank alone. `filler`: there are none, and it steps with zeros, so that
  /// all ranks make the same number of steps; only for those of `reached`, as where there are rows: the others keep no state.
  void step(Entry& entry, std::uint64_t backwards, bool filler, const std::unordered_set<const void*>& reached);

 protected:
  void average(std::int64_t least) override;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace hvd::torch_binding
