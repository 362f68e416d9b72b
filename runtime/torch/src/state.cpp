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

std::vector<at::Tensor> parameters_of(torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (auto& group : optimizer.param_groups())
    for (const at::Tensor& p : group.params()) all.push_back(p);
  return all;
}

OptimizerBinding& binding_of(Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names) {
  auto& bindings = state(rank).bindings;
  auto found = std::find_if(bindings.begin(), bindings.end(), [&](const auto& b) { return b->optimizer() == &optimizer; });
  if (found != bindings.end() && (*found)->fits(optimizer)) return **found;
  auto made = std::make_unique<OptimizerBinding>(rank, optimizer, names);
  if (found != bindings.end()) {  // parameters were added, replaced, converted or moved: the same optimizer goes on
    made->reduced_at = (*found)->reduced_at;
    made->steps = (*found)->steps;
    made->warmup_steps = (*found)->warmup_steps;
    made->set_rates = (*found)->set_rates;
    made->set_factor = (*found)->set_factor;
    if ((*found)->overlapped()) made->overlap();
  }
  // One of this address, or over these parameters, belongs to an optimizer that is gone.
  bindings.erase(std::remove_if(bindings.begin(), bindings.end(),
                                [&](const auto& b) { return b->optimizer() == &optimizer || b->shares_parameters(optimizer); }),
                 bindings.end());
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
  for (Stream& s : streams()) {
    const std::lock_guard<std::mutex> lock(s.generator.mutex());
    s.own = s.generator.get_state();
    s.generator.set_state(s.shared);
  }
}

}  // namespace hvd::torch_binding
