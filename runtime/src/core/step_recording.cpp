// SPDX-License-Identifier: Apache-2.0
#include "core/step_recording.hpp"

#include "core/tensor_impl.hpp"

#include <algorithm>
#include <utility>

namespace hvd::core {

StepRecording::StepRecording(const Tensor& like)
    : gpu_(backends::require_gpu().make_recording()), draws_start_(make({2}, Dtype::kInt64, like.device())) {
  uses(*draws_start_.impl());
}

StepRecording::~StepRecording() = default;

void StepRecording::note(const std::function<void()>& step) {
  gpu_->open();
  context().step_recording = this;
  const Generator::State before = context().generator.state();
  try {
    step();
    context().step_recording = nullptr;
    parts_.emplace_back(gpu_->close());
    for (const Tensor& leaf : undefined_) leaf.mutable_grad() = Tensor();
  } catch (...) {
    context().step_recording = nullptr;
    if (context().gpu_recording) gpu_->drop();
    forget_gradients();
    context().generator.set_state(before);
    throw;
  }
}

// Those that no kernel has written.
void StepRecording::forget_gradients() {
  for (const auto& [impl, leaf] : seen_)
    if (leaf.grad().defined() && gpu_->owns(leaf.grad().storage()->data())) leaf.mutable_grad() = Tensor();
}

void StepRecording::later(std::function<void()> f) {
  parts_.emplace_back(gpu_->close());
  parts_.emplace_back(std::move(f));
  gpu_->open();
}

void StepRecording::run() {
  check();
  if (draws_ > 0) begin_draws();
  gpu_->begin_run();
  for (const auto& part : parts_) {
    if (const size_t* piece = std::get_if<size_t>(&part)) gpu_->run(*piece);
    else std::get<std::function<void()>>(part)();
  }
}

void StepRecording::check() const {
  for (const auto& [address, storage] : used_)
    if (replaced_ || storage.expired())
      throw Error("StepGraph: a tensor that the step read when it was noted is gone: what changes from call to call is handed to the step as an input");
  for (const Tensor& leaf : undefined_)
    if (leaf.grad().defined())
      throw Error("StepGraph: a parameter " + to_string(leaf.sizes()) + " has a gradient, and had none when the step was noted: call zero_grad() in the step, or before each");
  for (const Gradient& g : unchanged_)
    if (!g.leaf.grad().defined() || !g.leaf.grad().is_same(g.grad))
      throw Error("StepGraph: the gradient of a parameter " + to_string(g.leaf.sizes()) + " is not the tensor that the step added to when it was noted: call zero_grad() in the step");
}

void StepRecording::begin_draws() {
  Generator& generator = context().generator;
  const Generator::State now = generator.state();
  const int64_t start[2] = {static_cast<int64_t>(now.seed), static_cast<int64_t>(now.counter)};
  backend_of(draws_start_).from_host(draws_start_.raw_data(), start, sizeof start);
  generator.set_state({now.seed, now.counter + draws_});
}

backends::Draw StepRecording::draw(uint64_t first) {
  return {0, draws_++, first, reinterpret_cast<const uint64_t*>(draws_start_.data_ptr<int64_t>())};
}

void StepRecording::reached(const Tensor& leaf, const Tensor& before) {
  const bool first = seen_.emplace(leaf.impl().get(), leaf).second && !cleared_.count(leaf.impl().get());
  if (first && !before.defined()) undefined_.push_back(leaf);
  if (first && before.defined()) unchanged_.push_back({leaf, before});
  // Nobody else tells the leaf, when the step is repeated, that its gradient is new.
  again([leaf, grad = leaf.grad()] {
    leaf.mutable_grad() = grad;
    leaf.impl()->leaf.generation = context().backward_generation;
  });
}

void StepRecording::backward_begins() {
  again([] { ++context().backward_generation; });
}

void StepRecording::uses(const TensorImpl& t) {
  if (backends::backend(t.device).host_memory() || gpu_->owns(t.storage->data())) return;
  const auto [known, fresh] = used_.try_emplace(t.storage.get(), t.storage);
  if (fresh || !known->second.expired()) return;
  replaced_ = true;  // another one at its address
  known->second = t.storage;
}

bool StepRecording::holds_constants(const Tensor& t) const {
  return std::any_of(constants_.begin(), constants_.end(), [&](const Tensor& c) { return c.storage() == t.storage(); });
}

bool later_in_step(std::function<void()> f) {
  StepRecording* const recording = context().step_recording;
  if (recording) recording->later(std::move(f));
  return recording != nullptr;
}

backends::Draw next_draw(const Tensor& t, uint64_t first) {
  if (StepRecording* recording = context().step_recording; recording && !on_host(t)) return recording->draw(first);
  Generator& generator = default_generator();
  return {generator.seed(), generator.next(), first};
}

}  // namespace hvd::core
