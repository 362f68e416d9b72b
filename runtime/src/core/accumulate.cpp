// SPDX-License-Identifier: Apache-2.0
#include "core/accumulate.hpp"

#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

namespace hvd::autograd {

namespace {

/// Whether nobody else can see the memory of `t`.
bool sole_owner(const Tensor& t) { return t.impl().use_count() == 1 && t.impl()->storage.use_count() == 1; }

bool fits(const Tensor& buffer, const Tensor& leaf) {
  return buffer.defined() && buffer.dtype() == leaf.dtype() && buffer.sizes() == leaf.sizes();
}

/// First gradient of a leaf: into its buffer if it has one, else the incoming tensor itself where that is possible.
Tensor first_gradient(const Tensor& leaf, Tensor grad, double weight) {
  const Tensor& buffer = leaf.impl()->leaf.gradient_buffer;
  const bool in_buffer = fits(buffer, leaf);
  if (weight == 0) return in_buffer ? buffer.zero_() : zeros_like(leaf);
  if (in_buffer) {
    buffer.copy_(grad);
    grad = buffer;
  } else if (!sole_owner(grad) || !grad.is_contiguous()) {
    grad = grad.clone();
  }
  if (weight != 1) grad.mul_(weight);
  return grad;
}

void accumulate(const Tensor& leaf, Tensor grad, double weight) {
  TensorImpl& impl = *leaf.impl();
  if (!impl.grad.defined()) {
    impl.grad = first_gradient(leaf, std::move(grad), weight);
  } else if (weight == 1) {
    impl.grad.add_(grad);
  } else if (weight != 0) {
    impl.grad.add_(grad, weight);
  }
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor leaf) : Node("leaf", {}, {}, nullptr), leaf_(std::move(leaf)) {
  set_output(leaf_);
}

std::vector<Tensor> AccumulateGrad::apply(Tensor grad) {
  if (grad.sizes() != leaf_.sizes() || grad.dtype() != leaf_.dtype())
    throw Error("backward: gradient " + to_string(grad.sizes()) + " " + dtype_name(grad.dtype()) + " for a leaf " +
                to_string(leaf_.sizes()) + " " + dtype_name(leaf_.dtype()));
  const NoGradGuard no_grad;
  LeafState& state = leaf_.impl()->leaf;
  const Tensor before = leaf_.impl()->grad;
  accumulate(leaf_, std::move(grad), context().backward_weight);
  if (core::StepRecording* recording = context().step_recording) recording->reached(leaf_, before);
  state.generation = context().backward_generation;
  const auto hooks = state.hooks;  // a hook may remove itself
  for (const auto& hook : hooks) hook.second->gradient_ready(leaf_);
  return {};
}

std::shared_ptr<Node> accumulator_of(const Tensor& leaf) {
  LeafState& state = leaf.impl()->leaf;
  std::shared_ptr<Node> node = state.accumulator.lock();
  if (!node) {
    node = std::make_shared<AccumulateGrad>(leaf);
    state.accumulator = node;
  }
  return node;
}

}  // namespace hvd::autograd
