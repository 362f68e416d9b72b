// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/node.hpp"

namespace hvd::autograd {

/// The end of the graph at a leaf: adds the gradient that arrives to `leaf.grad()`, weighted as the context says, then calls
/// the leaf's hooks. One per leaf and graph, so that it runs once per backward, when all contributions are summed.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  std::vector<Tensor> apply(Tensor grad) override;
  bool is_accumulator() const override { return true; }

 private:
  Tensor leaf_;
};

std::shared_ptr<Node> accumulator_of(const Tensor& leaf);

}  // namespace hvd::autograd
