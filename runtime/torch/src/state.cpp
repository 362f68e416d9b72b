// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <algorithm>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

namespace hvd::torch_binding {

State& state(Rank& rank) {
  if (!rank.training) rank.training = std::make_shared<State>(rank);
  return *static_cast<State*>(rank.training.get());
}

namespace {

std::vector<std::string> names_of(const State& state, torch::optim::Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const at::Tensor& p : parameters_of(optimizer)) {
    const auto found = state.known.find(p.unsafeGetTensorImpl());
    names.push_back(found == state.known.end() || found->second.tensor.expired() ? "" : found->second.name);
  }
  return names;
}

}  // namespace

void note_parameter(Rank& rank, const at::Tensor& parameter, const std::string& name) {
  state(rank).known.insert_or_assign(parameter.unsafeGetTensorImpl(), State::Known{decltype(State::Known::tensor)(parameter.getIntrusivePtr()), name});
}

void note_parameters(Rank& rank, const torch::nn::Module& model) {
  for (const auto& entry : model.named_parameters())
    if (entry.value().defined()) note_parameter(rank, entry.value(), entry.key());
}

namespace {

// A binding keeps its parameters: of an optimizer that lies where one lay that is gone, none is the same.
bool is_of(const OptimizerBinding& binding, torch::optim::Optimizer& optimizer) {
  return binding.optimizer() == &optimizer && (binding.shares_parameters(optimizer) || binding.fits(optimizer));
}

void forget(State& state, torch::optim::Optimizer& optimizer) {
  std::erase_if(state.bindings, [&](const auto& b) { return b->optimizer() == &optimizer || b->shares_parameters(optimizer); });
}

}  // namespace

void agree_on_binding(Rank& rank, torch::optim::Optimizer& optimizer) {
  State& state = torch_binding::state(rank);
  std::uint64_t known = std::any_of(state.bindings.begin(), state.bindings.end(), [&](const auto& b) { return is_of(*b, optimizer); });
  rank.comm->allreduce(&known, 1, dist::DataType::uint64, dist::ReduceOp::min, {"optimizer"});
  if (known) return;
  if (state.server) state.server->drain();
  forget(state, optimizer);
}

OptimizerBinding& binding_of(Rank& rank, torch::optim::Optimizer& optimizer, CallSite site) {
  State& state = torch_binding::state(rank);
  auto& bindings = state.bindings;
  auto found = std::find_if(bindings.begin(), bindings.end(), [&](const auto& b) { return is_of(*b, optimizer); });
  if (found != bindings.end() && (*found)->fits(optimizer)) return **found;
  if (state.server) state.server->drain();
  OptimizerBinding::Progress progress;
  const bool overlapped = found != bindings.end() && (*found)->overlapped();
  if (found != bindings.end()) progress = (*found)->progress;
  // What hooks have sent in the last backward is summed first; the new binding takes over from there.
  if (overlapped && progress.reduced_at != state.backwards) {
    if (state.server) {  // once for each step: nothing is left to take over
      (*found)->push(rank, *state.server, state.backwards, site);
      progress = (*found)->progress;
    } else {
      (*found)->reduce(rank, state.backwards, site);
    }
  }
  auto made = std::make_unique<OptimizerBinding>(rank, optimizer, names_of(state, optimizer), state.reduced_at);
  // Parameters were added, replaced, converted or moved: the same optimizer goes on.
  made->progress = progress;
  if (overlapped) made->overlap();
  // One of this address, or over these parameters, belongs to an optimizer that is gone.
  forget(state, optimizer);
  bindings.push_back(std::move(made));
  return *bindings.back();
}

std::vector<StepStreams::Stream>& StepStreams::streams() {
  if (!streams_.empty()) return streams_;
  streams_.push_back({at::detail::getDefaultCPUGenerator(), {}, {}});
  if (at::hasCUDA())
    streams_.push_back({at::globalContext().defaultGenerator(c10::Device(c10::DeviceType::CUDA)), {}, {}});
  return streams_;
}

void StepStreams::enter() {
  pairs_.resume();
  for (Stream& s : streams()) {
    const std::lock_guard<std::mutex> lock(s.generator.mutex());
    s.shared = s.generator.get_state();
    if (!s.own.defined()) {
      // Rank 0's own stream differs from the shared one too: a draw of the next shuffle must not repeat a mask.
      s.generator.set_current_seed(s.generator.current_seed() + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(rank_ + 1));
    } else {
      s.generator.set_state(s.own);
    }
  }
}

void StepStreams::leave() {
  pairs_.pause();
  for (Stream& s : streams()) {
    const std::lock_guard<std::mutex> lock(s.generator.mutex());
    if (!s.shared.defined()) continue;  // the state was made inside this step
    s.own = s.generator.get_state();
    s.generator.set_state(s.shared);
  }
}

}  // namespace hvd::torch_binding
