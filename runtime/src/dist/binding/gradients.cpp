// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/dist/gradients.hpp>

#include <hvd/core/error.hpp>

#include <algorithm>

#include "../check.hpp"
#include "../weights.hpp"
#include "core/tensor_impl.hpp"
#include "loss_pairs.hpp"
#include "training.hpp"

namespace hvd {

namespace {

using namespace dist;

// With fewer rows than ranks, or than its share asks for, a rank trains on a filler; plain batch norm would take its statistics from it.
void refuse_plain_batchnorm(const Training& state, const Rank& rank) {
  const Slice* slice = context().current_slice;
  if (!slice || context().statistics_reducer || rank.leaves_none_without(*slice)) return;
  for (const auto& weak : state.plain_batchnorms) {
    const auto layer = std::dynamic_pointer_cast<nn::BatchNormImpl>(weak.lock());
    if (layer && layer->is_training())
      throw dist::Failure<Error>("HVD4001: a batch of " + std::to_string(slice->global_rows) + " samples leaves some of " +
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

// What the pass at work is, for those that meet others on the way back.
class Running {
 public:
  Running(Training& state, const LossKind& kind, double weight) : state_(state) {
    state_.running = &kind;
    state_.running_weight = weight;
  }
  ~Running() { state_.running = nullptr; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Training& state_;
};

// The coming step is number `done`; `length` of the warm-up, -1 while it is not known.
void warm_up(const Rank& rank, std::int64_t done, std::int64_t& length, optim::Optimizer& optimizer) {
  if (rank.lr_scale == 1) return;
  if (length < 0) length = warmup_steps(rank);
  if (done > length || length == 0) return;  // at the full rate
  optimizer.set_lr_factor(warmup_factor(rank, done, length));
}

void note_step(Rank& rank) {
  if (rank.board) rank.board->set_step(++rank.step);
}

// Those that are not sent to the others.
void check_gradients(const Rank& rank, const optim::Optimizer& optimizer) {
  std::size_t i = 0;
  for (const Tensor& parameter : optimizer.parameters()) {
    const std::string name = "parameter " + std::to_string(i++);
    if (!parameter.grad().defined()) continue;
    const Tensor grad = core::host_copy(parameter.grad().to(wire_dtype(parameter.grad().dtype()))).contiguous();
    check_numbers(rank, "gradients", name, grad.raw_data(), static_cast<std::size_t>(grad.numel()), data_type(grad.dtype()));
  }
}

// The optimizer steps with this rank's gradients; the mean over ranks comes later.
void step_locally(Rank& rank, Training& state, optim::Optimizer& optimizer) {
  LocalTraining::Steps start;
  for (const auto& binding : state.bindings)
    if (binding->optimizer() == &optimizer) start = {binding->steps, binding->warmup_steps};
  LocalTraining::Entry& entry = state.local->entry_of(optimizer, start);
  if (entry.generation == autograd::backward_generation()) return;
  note_step(rank);
  warm_up(rank, entry.steps.done, entry.steps.warmup, optimizer);
  if (rank.settings.check && !rank.loss_scaled) check_gradients(rank, optimizer);
  state.local->step(entry);
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
  const InPhase traced(Phase::backward, Phase::rest);
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return loss_.backward(gradient, retain_graph);
  Training& state = training(*rank);
  rank->loss_scaled = context().loss_scaled;
  refuse_plain_batchnorm(state, *rank);
  constexpr std::uint64_t kLooked = 4;  // the shapes of a loss are those of the first steps
  if (const Slice* slice = context().current_slice; slice && !slice->filler && state.backwards++ < kLooked) refuse_pairs(loss_, slice->rows);
  const bool local = steps_locally(*rank);
  const double weight = local ? state.local->begin_backward(kind_) : gradient_weight(*rank, kind_, op_name("backward", site_));
  if (rank->node) state.local->begin_backward(kind_);  // notes the samples
  if (const Slice* slice = context().current_slice) state.rows += slice->rows;
  rank->steps_per_epoch = rank->steps_per_pass;
  if (local) {
    for (auto& binding : state.bindings) binding->retire();
    const autograd::BackwardWeight guard(weight);
    return loss_.backward(gradient, retain_graph);
  }
  if (core::StepRecording* recording = context().step_recording)
    recording->again([rank, &state, rows = context().current_slice ? context().current_slice->rows : 0] {
      state.rows += rows;
      rank->steps_per_epoch = rank->steps_per_pass;
    });
  const SetAside aside(state);
  const autograd::BackwardWeight guard(weight);
  const Running running(state, kind_, weight);
  // A sum to which none of this rank's samples has added (a loop over its rows left them all out): no parameter is behind it here, as it is on others.
  // The pass counts all the same.
  if (context().current_slice && kind_.form() == LossKind::Form::sum && !loss_.requires_grad())
    return zeros({1}, requires_grad()).sum().backward();
  loss_.backward(gradient, retain_graph);
}

void reduce_gradients(optim::Optimizer& optimizer, CallSite site) {
  const InPhase traced(Phase::reduce, Phase::update);
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  if (core::later_in_step([&optimizer, site] { reduce_gradients(optimizer, site); })) {
    for (auto& binding : training(*rank).bindings)
      if (binding->optimizer() == &optimizer) binding->reduction_noted();
    return;
  }
  if (steps_locally(*rank)) return step_locally(*rank, training(*rank), optimizer);
  OptimizerBinding& binding = binding_of(*rank, optimizer);
  const std::uint64_t generation = autograd::backward_generation();
  if (generation == binding.reduced_generation()) return;
  note_step(*rank);
  warm_up(*rank, binding.steps, binding.warmup_steps, optimizer);
  if (const auto& server = training(*rank).server) binding.push(*rank, *server, site);
  else binding.reduce(*rank, site);
  binding.set_reduced_generation(generation);
  ++binding.steps;
  if (rank->node) training(*rank).local->step(training(*rank).local->entry_of(optimizer, {}));
}

namespace {

bool has_all(const std::vector<Tensor>& known, const std::vector<Tensor>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Tensor& w) { return std::any_of(known.begin(), known.end(), [&](const Tensor& k) { return k.is_same(w); }); });
}

}  // namespace

void reduce_gradients(const std::vector<Tensor>& parameters, CallSite site) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1 || parameters.empty()) return;
  Training& state = training(*rank);
  if (state.server)
    throw dist::Failure<Error>(std::string(site.file) + ":" + std::to_string(site.line) + ": HVD_SYNC=parameter-server: the parameters are updated by hand, and workers have no gradients to do so; use an optimizer, or HVD_SYNC=step");
  const auto same = [&](const auto& o) { return o->parameters().size() == parameters.size() && has_all(o->parameters(), parameters); };
  auto found = std::find_if(state.by_hand.begin(), state.by_hand.end(), same);
  if (found == state.by_hand.end()) found = state.by_hand.insert(found, std::make_unique<optim::SGD>(parameters, optim::SGDOptions(0)));
  reduce_gradients(**found, site);
}

void overlap(nn::Module& model, optim::Optimizer& optimizer, CallSite) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1 || steps_locally(*rank)) return;
  if (rank->serves_ahead()) return;  // gradients go beside the steps to come
  binding_of(*rank, optimizer, names_in(model, optimizer)).overlap();
}

}  // namespace hvd
