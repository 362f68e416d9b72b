// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the core note of a step for hvd::StepGraph: the work of the GPU in pieces, and between them what the host has to do each
// time that the step is repeated.
#pragma once

#include "device/gpu_library.hpp"

#include <hvd/context.hpp>
#include <hvd/tensor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace hvd {
struct TensorImpl;
}
namespace hvd::backends {
struct Draw;
}

namespace hvd::core {

class StepRecording {
 public:
  /// `like`: a tensor of the GPU.
  explicit StepRecording(const Tensor& like);
  ~StepRecording();
  StepRecording(const StepRecording&) = delete;
  StepRecording& operator=(const StepRecording&) = delete;

  /// Notes what `step` asks for, on this thread. Nothing of it runs on the GPU. What it throws comes through, and nothing is noted.
  void note(const std::function<void()>& step);
  /// Repeats it.
  void run();

  // -- for what happens in the step
  /// The host does f() here each time; it asks nothing of the GPU.
  void again(std::function<void()> f) { parts_.emplace_back(std::move(f)); }
  /// The same, and it may: f() has not been done now.
  void later(std::function<void()> f);
  /// The gradient of a leaf is made undefined.
  void cleared(const Tensor& leaf) { cleared_.insert(leaf.impl().get()); }
  void backward_begins();
  /// A backward pass has added to the gradient of a leaf; `before`: what it was.
  void reached(const Tensor& leaf, const Tensor& before);
  /// A draw of the GPU from this thread's generator.
  backends::Draw draw(uint64_t first);
  /// The memory of a tensor is used.
  void uses(const TensorImpl& t);
  /// A tensor of the host that holds constants.
  void made(const Tensor& t) { constants_.push_back(t); }
  bool holds_constants(const Tensor& t) const;

 private:
  struct Gradient {
    Tensor leaf, grad;
  };
  void check() const;
  void forget_gradients();
  void begin_draws();

  std::unique_ptr<backends::GpuRecording> gpu_;
  std::vector<std::variant<size_t, std::function<void()>>> parts_;  // numbers of pieces, and what the host does
  Tensor draws_start_;  // seed, and number of the first draw: int64 [2]
  uint64_t draws_ = 0;
  std::unordered_set<const TensorImpl*> cleared_;
  std::unordered_map<const TensorImpl*, Tensor> seen_;  // leaves that gradients have reached
  std::vector<Tensor> undefined_;    // leaves whose gradients are undefined when the step begins
  std::vector<Gradient> unchanged_;  // leaves whose gradients are these tensors then
  std::unordered_map<const Storage*, std::weak_ptr<Storage>> used_;  // not of the recording itself
  bool replaced_ = false;  // one of them was gone before the step was over
  std::vector<Tensor> constants_;
};

/// While a step is noted: notes that f() is to be done here each time that it is repeated, in place of now, and returns true.
bool later_in_step(std::function<void()> f);
/// The numbers of the next draw of this thread's generator, for `t`; element 0 of `t` is element `first` of the draw.
backends::Draw next_draw(const Tensor& t, uint64_t first = 0);

}  // namespace hvd::core
