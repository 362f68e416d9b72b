// SPDX-License-Identifier: Apache-2.0
#include <hvd/torch/gradients.hpp>

#include <stdexcept>

#include <torch/nn/modules/batchnorm.h>

#include <hvd/context.hpp>

#include "dist/weights.hpp"
#include "state.hpp"

namespace hvd {

namespace {

using namespace torch_binding;

// With fewer rows than ranks, a rank trains on a filler; batch norm would take its statistics from it.
void refuse_plain_batchnorm(const State& state, const Rank& rank) {
  const Slice* slice = context().current_slice;
  if (!slice || slice->global_rows >= rank.size()) return;
  for (const auto& weak : state.models)
    if (const auto layer = weak.lock(); layer && layer->is_training())
      throw std::runtime_error("HVD4001: a batch of " + std::to_string(slice->global_rows) + " samples leaves some of " +
                               std::to_string(rank.size()) + " ranks without any, and batch norm would train on a filler; use fewer ranks, or "
                               "drop the last batch");
}

class AroundBackward {
 public:
  AroundBackward(State& state, bool discard) : state_(state) {
    const at::NoGradGuard no_grad;
    for (auto& binding : state_.bindings) binding->before_backward(discard);
  }
  ~AroundBackward() {
    for (auto& binding : state_.bindings) binding->after_backward();
  }
  AroundBackward(const AroundBackward&) = delete;
  AroundBackward& operator=(const AroundBackward&) = delete;

 private:
  State& state_;
};

// The rates of the optimizer times the factor of the coming step. What a schedule has multiplied them by since the last step stays.
void warm_up(Rank& rank, OptimizerBinding& binding, torch::optim::Optimizer& optimizer) {
  if (rank.lr_scale == 1) return;
  if (binding.warmup_steps < 0) binding.warmup_steps = dist::warmup_steps(rank);
  if (binding.warmup_steps == 0 || binding.steps > binding.warmup_steps) return;
  const double factor = dist::warmup_factor(rank, binding.steps, binding.warmup_steps);
  for (auto& group : optimizer.param_groups())
    group.options().set_lr(group.options().get_lr() / binding.set_factor * factor);
  binding.set_factor = factor;
}

std::vector<std::string> names_in(const torch::nn::Module& model, torch::optim::Optimizer& optimizer) {
  std::vector<std::string> names;
  const auto named = model.named_parameters();
  for (const at::Tensor& parameter : parameters_of(optimizer)) {
    names.emplace_back();
    for (const auto& entry : named)
      if (entry.value().is_same(parameter)) names.back() = entry.key();
  }
  return names;
}

}  // namespace

void WeightedLoss::backward(const at::Tensor& gradient, c10::optional<bool> retain_graph, bool create_graph,
                            c10::optional<at::TensorList> inputs) const {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return loss_.backward(gradient, retain_graph, create_graph, inputs);
  State& state = torch_binding::state(*rank);
  refuse_plain_batchnorm(state, *rank);
  const Slice* slice = context().current_slice;
  const double weight = dist::gradient_weight(*rank, kind_, dist::op_name("backward", site_));
  if (slice) state.rows += slice->rows;
  ++state.backwards;
  const bool discard = slice && slice->filler;
  const AroundBackward guard(state, discard);
  at::Tensor seed = gradient;
  if (!discard && weight != 1 && gradient.defined()) seed = gradient * weight;
  else if (!discard && weight != 1 && loss_.numel() == 1) seed = at::full_like(loss_.detach(), weight);
  loss_.backward(seed, retain_graph, create_graph, inputs);
}

void reduce_gradients(torch::optim::Optimizer& optimizer, CallSite) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  State& state = torch_binding::state(*rank);
  OptimizerBinding& binding = binding_of(*rank, optimizer);
  if (binding.reduced_at == state.backwards) return;
  if (rank->board) rank->board->set_step(++rank->step);
  warm_up(*rank, binding, optimizer);
  binding.reduce(*rank);
  binding.reduced_at = state.backwards;
  ++binding.steps;
}

void overlap(torch::nn::Module& model, torch::optim::Optimizer& optimizer, CallSite) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  binding_of(*rank, optimizer, names_in(model, optimizer)).overlap();
}

void sync_batchnorm(torch::nn::Module& model) {
  const Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  for (const auto& layer : model.modules(false))
    if (layer->name().find("BatchNorm") != std::string::npos)
      throw std::runtime_error("--sync-bn: the batch norm layers of LibTorch cannot take their statistics over ranks; rewrite without --sync-bn");
}

}  // namespace hvd
