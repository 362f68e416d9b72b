// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/torch/gradients.hpp>

#include <algorithm>
#include <stdexcept>

#include <hvd/context.hpp>
#include <torch/optim/lbfgs.h>

#include "dist/check.hpp"
#include "dist/weights.hpp"
#include "loss_pairs.hpp"
#include "state.hpp"
#include "wire.hpp"

namespace hvd {

namespace {

using namespace torch_binding;

// With fewer rows than ranks, a rank trains on a filler; batch norm would take its statistics from it.
void refuse_plain_batchnorm(const State& state, const Rank& rank) {
  const Slice* slice = context().current_slice;
  if (!slice || state.sync_norms || rank.leaves_none_without(*slice)) return;
  for (const auto& weak : state.batch_norms)
    if (const auto layer = weak.lock(); layer && layer->is_training())
      throw dist::Failure<std::runtime_error>("HVD4001: a batch of " + std::to_string(slice->global_rows) + " samples leaves some of " +
                               std::to_string(rank.size()) + " ranks without any, and batch norm would train on a filler; use --sync-bn, "
                               "fewer ranks, or drop the last batch");
}

// For the time of one backward. `common`: its gradients are summed over ranks. `discard`: whatever it adds to a gradient is taken back, of parameters that no optimizer has yet too.
class AroundBackward {
 public:
  AroundBackward(State& state, bool common, bool discard) : state_(state) {
    const at::NoGradGuard no_grad;
    for (auto& binding : state_.bindings)
      if (common) binding->before_backward(discard);
    if (!discard) return;
    for (const auto& binding : state_.bindings) binding->parameters(leaves_);
    for (const auto& entry : state_.known)
      if (auto alive = entry.second.tensor.lock()) leaves_.emplace_back(std::move(alive));
    for (at::Tensor& leaf : leaves_) {
      kept_.push_back(leaf.mutable_grad());
      leaf.mutable_grad() = at::Tensor();
    }
  }
  ~AroundBackward() {
    for (auto& binding : state_.bindings) binding->after_backward();
    while (!kept_.empty()) {  // backwards: a leaf may be there twice
      if (leaves_[kept_.size() - 1].grad().defined()) state_.reached.insert(leaves_[kept_.size() - 1].unsafeGetTensorImpl());
      leaves_[kept_.size() - 1].mutable_grad() = kept_.back();
      kept_.pop_back();
    }
  }
  AroundBackward(const AroundBackward&) = delete;
  AroundBackward& operator=(const AroundBackward&) = delete;

 private:
  State& state_;
  std::vector<at::Tensor> leaves_, kept_;
};

// What the pass at work is, for those that meet others on the way back.
class Running {
 public:
  Running(State& state, const LossKind& kind, bool discards) : state_(state) {
    state_.running = &kind;
    state_.discards = discards;
  }
  ~Running() {
    state_.running = nullptr;
    state_.discards = false;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  State& state_;
};

// Does it call back for loss and gradients until they please it? Its rate is not scaled.
bool searches(const torch::optim::Optimizer& optimizer) { return dynamic_cast<const torch::optim::LBFGS*>(&optimizer); }

// Ranks that each search by a loss of their own make different numbers of steps.
void refuse_own_search(Rank& rank, const torch::optim::Optimizer& optimizer, CallSite site) {
  if (!searches(optimizer) || (rank.settings.period == 0 && !torch_binding::state(rank).server)) return;
  throw dist::Failure<std::runtime_error>(std::string(site.file) + ":" + std::to_string(site.line) +
                           ": LBFGS searches by the loss of all ranks, which HVD_SYNC=periodic and HVD_SYNC=parameter-server do not have; use HVD_SYNC=step");
}

// The rates of the optimizer times the factor of the coming step. What a schedule has multiplied them by since the last step stays.
// `taken`: reductions that belong to the coming step, and have been made.
template <class Progress>
void warm_up(Rank& rank, Progress& progress, torch::optim::Optimizer& optimizer, std::int64_t taken = 0) {
  if (rank.lr_scale == 1 || searches(optimizer)) return;
  if (progress.warmup_steps < 0) progress.warmup_steps = dist::warmup_steps(rank);
  const std::int64_t done = progress.steps - taken;
  if (progress.warmup_steps == 0 || done > progress.warmup_steps) return;
  const double factor = dist::warmup_factor(rank, done, progress.warmup_steps);
  for (auto& group : optimizer.param_groups())
    group.options().set_lr(group.options().get_lr() / progress.set_factor * factor);
  progress.set_factor = factor;
}

void note_step(Rank& rank) {
  if (rank.board) rank.board->set_step(++rank.step);
}

// Those that are not sent to the others.
void check_gradients(const Rank& rank, torch::optim::Optimizer& optimizer) {
  std::size_t i = 0;
  for (const at::Tensor& parameter : parameters_of(optimizer)) {
    const std::string name = "parameter " + std::to_string(i++);
    if (!parameter.grad().defined()) continue;
    const at::Tensor grad = (parameter.grad().is_sparse() ? parameter.grad().to_dense() : parameter.grad())
                                .detach().to(at::kCPU, scalar_type(wire_type(parameter))).contiguous();
    dist::check_numbers(rank, "gradients", name, grad.data_ptr(), static_cast<std::size_t>(grad.numel()), wire_type(parameter));
  }
}

// The optimizer steps with this rank's gradients; the mean over ranks comes later.
void step_locally(Rank& rank, State& state, torch::optim::Optimizer& optimizer) {
  LocalTraining::Entry start{};
  for (const auto& binding : state.bindings) {
    if (binding->optimizer() != &optimizer) continue;
    start.steps = binding->progress.steps;
    start.warmup_steps = binding->progress.warmup_steps;
    start.set_factor = binding->progress.set_factor;
  }
  LocalTraining::Entry& entry = state.local->entry_of(optimizer, start);
  if (entry.backwards == state.backwards) return;
  note_step(rank);
  warm_up(rank, entry, optimizer);
  const Slice* slice = context().current_slice;
  if (rank.settings.check) check_gradients(rank, optimizer);
  state.local->step(entry, state.backwards, slice && slice->filler, state.reached);
}

}  // namespace

void WeightedLoss::backward(const at::Tensor& gradient, c10::optional<bool> retain_graph, bool create_graph,
                            c10::optional<at::TensorList> inputs) const {
  const dist::InPhase traced(dist::Phase::backward, dist::Phase::rest);
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return loss_.backward(gradient, retain_graph, create_graph, inputs);
  State& state = torch_binding::state(*rank);
  refuse_plain_batchnorm(state, *rank);
  const Slice* slice = context().current_slice;
  constexpr std::uint64_t kLooked = 4;  // the shapes of a loss are those of the first steps
  if (slice && !slice->filler && state.backwards < kLooked) refuse_pairs(loss_, slice->rows);
  state.pairs.refuse();
  const bool local = dist::steps_locally(*rank);
  const double weight =
      local ? state.local->begin_backward(kind_) : dist::gradient_weight(*rank, kind_, dist::op_name("backward", site_));
  if (rank->node) state.local->begin_backward(kind_);  // notes the samples
  if (slice) state.rows += slice->rows;
  ++state.backwards;
  const bool discard = (slice && slice->filler) || weight == 0;  // zero times what is not a number would be none, too
  const AroundBackward guard(state, !local, discard);
  const Running running(state, kind_, discard);
  at::Tensor seed = gradient;
  // Of a slice that counts nothing too: parameters that nobody has named yet must not get its gradient.
  const double factor = discard ? 0 : weight;
  if (factor != 1 && gradient.defined()) seed = gradient * factor;
  else if (factor != 1 && loss_.numel() == 1) seed = at::full_like(loss_.detach(), factor);
  // A sum to which none of this rank's samples has added (a loop over its rows left them all out): no parameter is behind it here, as it is on others.
  if (slice && kind_.form() == LossKind::Form::sum && !loss_.requires_grad()) return;
  loss_.backward(seed, retain_graph, create_graph, inputs);
}

void reduce_gradients(torch::optim::Optimizer& optimizer, CallSite site) {
  const dist::InPhase traced(dist::Phase::reduce, dist::Phase::update);
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  State& state = torch_binding::state(*rank);
  refuse_own_search(*rank, optimizer, site);
  if (dist::steps_locally(*rank)) return step_locally(*rank, state, optimizer);
  OptimizerBinding& binding = binding_of(*rank, optimizer, site);
  if (binding.progress.reduced_at == state.backwards) {
    if (binding.progress.before_step) warm_up(*rank, binding.progress, optimizer, 1);
    binding.progress.before_step = false;
    return;
  }
  note_step(*rank);
  warm_up(*rank, binding.progress, optimizer);
  if (state.server) binding.push(*rank, *state.server, state.backwards, site);
  else binding.reduce(*rank, state.backwards, site);
  if (!rank->node) return;
  const Slice* slice = context().current_slice;
  const bool filler = slice && rank->summed_rows(*slice) == 0;  // no rank of the node has a gradient
  state.local->step(state.local->entry_of(optimizer, {}), state.backwards, filler, state.reached);
}

namespace {

// Reduces what the optimizers have that these parameters are of; those that no optimizer has are left. Optimizers are not looked into where gradients are all that
// is asked for: some may be gone.
std::vector<at::Tensor> reduce_optimizers_of(Rank& rank, State& state, at::TensorList parameters, CallSite site) {
  std::vector<at::Tensor> left;
  for (const at::Tensor& p : parameters)
    if (p.defined() && p.requires_grad()) left.push_back(p);
  std::vector<OptimizerBinding*> found;
  for (const auto& binding : state.bindings) {
    if (state.by_hand.has(binding->optimizer())) continue;
    std::vector<at::Tensor> held;
    binding->parameters(held);
    const auto is_held = [&](const at::Tensor& p) { return std::any_of(held.begin(), held.end(), [&](const at::Tensor& h) { return h.is_same(p); }); };
    if (std::erase_if(left, is_held) > 0) found.push_back(binding.get());
  }
  for (OptimizerBinding* binding : found) {
    const bool gone = std::none_of(state.bindings.begin(), state.bindings.end(), [&](const auto& b) { return b.get() == binding; });  // planned anew for another one
    if (gone || binding->progress.reduced_at == state.backwards) continue;
    if (dist::steps_locally(rank) || state.server || rank.node || !binding->is_current()) {
      reduce_gradients(const_cast<torch::optim::Optimizer&>(*binding->optimizer()), site);
      continue;
    }
    note_step(rank);
    binding->reduce(rank, state.backwards, site);
    binding->progress.before_step = true;
  }
  return left;
}

}  // namespace

void reduce_gradients(at::TensorList parameters, CallSite site) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  State& state = torch_binding::state(*rank);
  const dist::InPhase traced(dist::Phase::reduce, dist::Phase::update);
  const std::vector<at::Tensor> by_hand = reduce_optimizers_of(*rank, state, parameters, site);
  if (by_hand.empty()) return;
  if (state.server)
    throw dist::Failure<std::runtime_error>(std::string(site.file) + ":" + std::to_string(site.line) +
                             ": HVD_SYNC=parameter-server: the parameters are updated by hand, and workers have no gradients to do so; "
                             "use an optimizer, or HVD_SYNC=step");
  reduce_gradients(state.by_hand.stand_in(by_hand, site, state.local != nullptr), site);
}

void overlap(torch::nn::Module& model, torch::optim::Optimizer& optimizer, CallSite site) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  note_parameters(*rank, model);
  if (!dist::steps_locally(*rank) && !rank->serves_ahead()) binding_of(*rank, optimizer, site).overlap();
}

}  // namespace hvd
