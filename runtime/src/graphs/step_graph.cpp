// SPDX-License-Identifier: Apache-2.0
#include <hvd/step_graph.hpp>

#include "core/step_recording.hpp"
#include "core/tensor_impl.hpp"
#include "dist/rank.hpp"
#include "dist/exchange.hpp"

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace hvd {

namespace graphs {

/// All that what is noted depends on: another key, another step.
struct Key {
  struct Input {
    std::vector<int64_t> sizes;
    Dtype dtype;
    Device device;
    bool operator==(const Input&) const = default;
  };
  std::vector<Input> inputs;
  bool grad, autocast, deterministic, tf32;
  Dtype autocast_dtype, default_dtype;
  Device default_device;
  MemoryKind memory;
  double weight;
  int64_t slice[5];
  bool operator==(const Key&) const = default;
};

}  // namespace graphs

namespace {

using graphs::Key;

Key key_of(const std::vector<Tensor>& inputs) {
  const Context& c = context();
  Key key{{}, c.grad_enabled, c.autocast, c.deterministic, c.tf32, c.autocast_dtype, c.default_dtype, c.default_device, c.device_memory, c.backward_weight, {}};
  for (const Tensor& t : inputs) key.inputs.push_back({t.sizes(), t.dtype(), t.device()});
  if (const Slice* s = c.current_slice) {
    const int64_t slice[] = {s->global_rows, s->first_row, s->rows, s->filler ? 1 : 0, s->whole_rows};
    std::copy(std::begin(slice), std::end(slice), key.slice);
  }
  return key;
}

/// Ranks that are threads share one queue of the GPU. Where ranks step by themselves, or for a server, or take statistics together, the host has
/// more to do in a step than is noted.
bool ranks_allow() {
  const dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return true;
  if (context().statistics_reducer || rank->serves() || rank->node || rank->settings.period > 0 || rank->measured) return false;
  return std::strcmp(rank->comm->backend(), "threads") != 0;
}

bool on_one_gpu(const std::vector<Tensor>& inputs) {
  for (const Tensor& t : inputs)
    if (!t.defined() || core::on_host(t) || t.device() != inputs[0].device()) return false;
  return !inputs.empty();
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  const NoGradGuard no_grad;
  std::vector<Tensor> copies;
  for (const Tensor& t : tensors) copies.push_back(t.defined() ? t.detach().clone().contiguous() : t);
  return copies;
}

std::vector<Tensor> without_history(std::vector<Tensor> tensors) {
  for (Tensor& t : tensors)
    if (t.defined()) t = t.detach();
  return tensors;
}

}  // namespace

struct StepGraph::Impl {
  const Step step;
  const int runs;
  std::optional<Key> key;  // of the last inputs, or of those that were noted
  int seen = 0;            // calls with that key, one after the other
  std::vector<Tensor> inputs, outputs;
  std::unique_ptr<core::StepRecording> recording;  // goes before the tensors whose memory it uses

  Impl(Step given, int before) : step(std::move(given)), runs(before) {
    if (!step) throw Error("StepGraph: an empty function");
    if (runs < 1) throw Error("StepGraph: at least 1 run before the step is noted expected, not " + std::to_string(runs));
  }

  std::vector<Tensor> call(const std::vector<Tensor>& now) {
    if (context().step_recording) throw Error("StepGraph: a StepGraph is called within the step of another one");
    if (!on_one_gpu(now) || !ranks_allow()) return without_history(step(now));
    const Key current = key_of(now);
    if (!recording) {
      seen = key == current ? seen + 1 : 1;
      key = current;
      if (seen <= runs) return without_history(step(now));
      note(now);
    }
    return key == current ? repeat(now) : without_history(step(now));
  }

 private:
  void note(const std::vector<Tensor>& now) {
    inputs = copies_of(now);
    auto fresh = std::make_unique<core::StepRecording>(inputs[0]);
    fresh->note([&] { outputs = without_history(step(inputs)); });
    for (const Tensor& t : outputs)
      if (t.defined() && core::on_host(t)) throw Error("StepGraph: the step returns a tensor " + to_string(t.sizes()) + " of the host: return it on the GPU");
    recording = std::move(fresh);
  }

  std::vector<Tensor> repeat(const std::vector<Tensor>& now) {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i].copy_(now[i]);
    recording->run();
    return copies_of(outputs);
  }
};

StepGraph::StepGraph(Step step, int runs) : StepGraph(std::make_shared<Impl>(std::move(step), runs)) {}
StepGraph::StepGraph(const std::shared_ptr<Impl>& impl) : Step([impl](const std::vector<Tensor>& inputs) { return impl->call(inputs); }), impl_(impl) {}

bool StepGraph::noted() const { return impl_->recording != nullptr; }

}  // namespace hvd
