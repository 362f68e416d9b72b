// SPDX-License-Identifier: Apache-2.0
#pragma once

// Local steps of the training core's optimizers: their parameters and state are averaged now and then, their gradients never.

#include <memory>
#include <vector>

#include <hvd/optim.hpp>

#include "../strategy/averager.hpp"

namespace hvd::dist {

class LocalTraining final : public LocalSteps {
 public:
  using LocalSteps::LocalSteps;

  /// What the warm-up of an optimizer goes by.
  struct Steps {
    std::int64_t done = 0, warmup = -1;  // warmup -1: not known yet
  };
  struct Entry {
    optim::Optimizer* optimizer;
    Steps steps;
    std::uint64_t generation = 0;  // of the last backward that a step has used
    Progress progress;
  };
  /// The entry of the optimizer, which must live as long as the loop that it steps in; `start`: of a new one.
  Entry& entry_of(optim::Optimizer& optimizer, const Steps& start);
  /// The optimizer is about to step with the gradients of this rank alone.
  void step(Entry& entry);

 protected:
  void average(std::int64_t least) override;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace hvd::dist
