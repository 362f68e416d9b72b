// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <cstdint>
#include <memory>

/// The surface of autograd that bindings (gradient reduction, loss weights) build on. All of it belongs to the calling
/// thread's context or to one leaf tensor; hooks stay with the tensor through load(), to(dtype) and in-place changes.
namespace hvd::autograd {

/// Called by backward() on its own thread.
class GradientHook {
 public:
  virtual ~GradientHook() = default;
  /// `leaf.grad()` now holds all that this backward contributes to it (weight included). Must not start a backward.
  virtual void gradient_ready(const Tensor& leaf) = 0;
};

/// Adds a hook to a leaf that requires gradients; returns an id for remove_gradient_hook. Hooks run in order of adding.
uint64_t add_gradient_hook(const Tensor& leaf, std::shared_ptr<GradientHook> hook);
void remove_gradient_hook(const Tensor& leaf, uint64_t id);
bool has_gradient_hook(const Tensor& leaf, uint64_t id);

/// While it lives, every gradient that a backward of this thread brings to a leaf is multiplied by `weight`. Weight 1
/// changes no bit. Weight 0 selects zero: nothing is multiplied, so NaN and infinity contribute zero as well; a leaf
/// without gradient gets a gradient of zeros. Guards nest; the innermost one counts.
class BackwardWeight {
 public:
  explicit BackwardWeight(double weight);
  ~BackwardWeight();
  BackwardWeight(const BackwardWeight&) = delete;
  BackwardWeight& operator=(const BackwardWeight&) = delete;

 private:
  double previous_;
};

/// Number of backward() calls of this thread so far, the running one included.
uint64_t backward_generation();
/// Generation of the last backward that reached this leaf (on the thread that ran it); 0 if none has.
uint64_t backward_generation(const Tensor& leaf);

/// A buffer (sizes and dtype of the leaf, contiguous) in which the gradient is to live: when the leaf's gradient is undefined,
/// the next one is written there, and `leaf.grad()` is that buffer. An undefined tensor ends this. Ignored, not lost, while
/// sizes or dtype differ.
void set_gradient_buffer(const Tensor& leaf, const Tensor& buffer);
Tensor gradient_buffer(const Tensor& leaf);

/// What runs between the start and the end of each backward() of this thread; set in the context, null when unused.
class BackwardObserver {
 public:
  virtual ~BackwardObserver() = default;
  virtual void backward_begins(const Tensor& root) = 0;
  virtual void backward_ends(const Tensor& root) = 0;
};

}  // namespace hvd::autograd
