// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/gradients.hpp>

#include <hvd/core/error.hpp>

#include "../weights.hpp"
#include "training.hpp"

namespace hvd {

namespace {

using namespace dist;

// With fewer rows than ranks, a rank trains on a filler; plain batch norm would take its statistics from it.
void refuse_plain_batchnorm(const Training& state, const Rank& rank) {
  const Slice* slice = context().current_slice;
  if (!slice || slice->global_rows >= rank.size()) return;
  for (const auto& weak : state.plain_batchnorms) {
    const auto layer = std::dynamic_pointer_cast<nn::BatchNormImpl>(weak.lock());
    if (layer && layer->is_training() && !layer->synchronised())
      throw Error("HVD4001: a batch of " + std::to_string(slice->global_rows) + " samples leaves some of " +
                  std::to_string(rank.size()) + " ranks without any, and batch norm would train on a filler; use --sync-bn, fewer "
                  "ranks, or drop the last batch");
  }
}

class SetAside {
 public:
  explicit SetAside(Training& state) : state_(state), generation_(autograd::backward_generation()) {
    for (auto& binding : state_.bindings) binding->set_aside();
  }
  ~SetAside() {
    for (auto& binding : state_.bindings) binding->put_back(generation_);
  }
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

 private:
  Training& state_;
  std::uint64_t generation_;
};

void warm_up(const Rank& rank, OptimizerBinding& binding, optim::Optimizer& optimizer) {
  if (rank.lr_scale == 1) return;
  if (binding.warmup_steps < 0) binding.warmup_steps = warmup_steps(rank);
  if (binding.steps > binding.warmup_steps || binding.warmup_steps == 0) return;  // at the full rate
  optimizer.set_lr_factor(warmup_factor(rank, binding.steps, binding.warmup_steps));
}

std::vector<std::string> names_in(const nn::Module& model, const optim::Optimizer& optimizer) {
  std::vector<std::string> names;
  const auto named = model.named_parameters();
  for (const Tensor& parameter : optimizer.parameters()) {
    names.emplace_back();
    for (const auto& entry : named)
      if (entry.tensor.is_same(parameter)) names.back() = entry.name;
  }
  return names;
}

}  // namespace

void WeightedLoss::backward(const Tensor& gradient, bool retain_graph) const {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return loss_.backward(gradient, retain_graph);
  Training& state = training(*rank);
  refuse_plain_batchnorm(state, *rank);
  const double weight = gradient_weight(*rank, kind_, op_name("backward", site_));
  if (const Slice* slice = context().current_slice) state.rows += slice->rows;
  rank->steps_per_epoch = rank->steps_per_pass;
  const SetAside aside(state);
  const autograd::BackwardWeight guard(weight);
  loss_.backward(gradient, retain_graph);
}

void reduce_gradients(optim::Optimizer& optimizer, CallSite) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  OptimizerBinding& binding = binding_of(*rank, optimizer);
  const std::uint64_t generation = autograd::backward_generation();
  if (generation == binding.reduced_generation()) return;
  if (rank->board) rank->board->set_step(++rank->step);
  warm_up(*rank, binding, optimizer);
  binding.reduce(*rank);
  binding.set_reduced_generation(generation);
  ++binding.steps;
}

void overlap(nn::Module& model, optim::Optimizer& optimizer, CallSite) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  binding_of(*rank, optimizer, names_in(model, optimizer)).overlap();
}

}  // namespace hvd
