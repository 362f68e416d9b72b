// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>

#include <algorithm>
#include <cmath>

namespace hvd::autograd {

namespace {

LeafState& leaf_state(const Tensor& leaf, const char* operation) {
  TensorImpl& impl = core::impl_of(leaf, operation);
  if (impl.grad_fn) throw Error(std::string(operation) + ": tensor " + to_string(impl.sizes) + " is not a leaf");
  return impl.leaf;
}

}  // namespace

uint64_t add_gradient_hook(const Tensor& leaf, std::shared_ptr<GradientHook> hook) {
  LeafState& state = leaf_state(leaf, "add_gradient_hook");
  state.hooks.emplace_back(state.next_hook, std::move(hook));
  return state.next_hook++;
}

void remove_gradient_hook(const Tensor& leaf, uint64_t id) {
  std::erase_if(leaf_state(leaf, "remove_gradient_hook").hooks, [&](const auto& hook) { return hook.first == id; });
}

bool has_gradient_hook(const Tensor& leaf, uint64_t id) {
  const auto& hooks = leaf_state(leaf, "has_gradient_hook").hooks;
  return std::any_of(hooks.begin(), hooks.end(), [&](const auto& hook) { return hook.first == id; });
}

BackwardWeight::BackwardWeight(double weight) : previous_(context().backward_weight) {
  if (!std::isfinite(weight)) throw Error("BackwardWeight: weight " + std::to_string(weight) + " is not finite");
  context().backward_weight = weight;
}
BackwardWeight::~BackwardWeight() { context().backward_weight = previous_; }

uint64_t backward_generation() { return context().backward_generation; }
uint64_t backward_generation(const Tensor& leaf) { return leaf_state(leaf, "backward_generation").generation; }

void set_gradient_buffer(const Tensor& leaf, const Tensor& buffer) {
  if (buffer.defined() && !buffer.is_contiguous()) throw Error("set_gradient_buffer: the buffer must be contiguous");
  leaf_state(leaf, "set_gradient_buffer").gradient_buffer = buffer;
}
Tensor gradient_buffer(const Tensor& leaf) { return leaf_state(leaf, "gradient_buffer").gradient_buffer; }

}  // namespace hvd::autograd
