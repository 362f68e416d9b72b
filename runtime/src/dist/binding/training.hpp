// SPDX-License-Identifier: Apache-2.0
#pragma once

// The training core's side of a rank's session: which optimizers are reduced, and what their gradients stand at.

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>

#include "../exchange.hpp"
#include "../rank.hpp"
#include "../reducer.hpp"
#include "../strategy/server.hpp"
#include "local_training.hpp"

namespace hvd::dist {

DataType data_type(Dtype dtype);
/// In which dtype gradients are reduced: those of 16 bits in float32.
Dtype wire_dtype(Dtype dtype);

/// The generation of the backward after which a parameter's gradient was last summed over ranks, by the parameter: another optimizer may have it, too.
using ReducedAt = std::unordered_map<const void*, std::uint64_t>;

/// One optimizer's gradients. A gradient is *reduced* (the same on all ranks) or *partial* (a backward has reached the leaf
/// since). A reduced gradient that a backward would add to is set aside, and counts 1/size on every rank afterwards, so that
/// the next sum over ranks contains it once.
class OptimizerBinding {
 public:
  OptimizerBinding(Rank& rank, optim::Optimizer& optimizer, const std::vector<std::string>& names, ReducedAt& reduced_at);
  ~OptimizerBinding();
  OptimizerBinding(const OptimizerBinding&) = delete;
  OptimizerBinding& operator=(const OptimizerBinding&) = delete;

  const optim::Optimizer* optimizer() const { return optimizer_; }
  /// Whether the parameters are still those, of those sizes and types, that the plan was made for.
  bool fits(const optim::Optimizer& optimizer) const;
  bool shares_parameters(const optim::Optimizer& optimizer) const;

  void overlap();
  bool overlapped() const { return !hooks_.empty(); }
  /// Waits for what hooks have sent in a backward pass whose gradients another binding will sum: each rank has sent it, or is waited for. Collective.
  void settle() { reducer_->finish(); }
  /// Sums over ranks. With a parameter server it alone gets the sums, and the workers' gradients are undefined afterwards.
  void reduce(Rank& rank, CallSite site);
  /// Under HVD_CHECK: throws when the parameters are not the same on all ranks. Collective.
  void check_parameters(Rank& rank, CallSite site) const;
  /// Sums for the server, which sends the parameters back later; from a worker that goes on meanwhile, sends its part.
  void push(Rank& rank, ParameterServer& server, CallSite site);
  std::uint64_t reduced_generation() const { return reduced_generation_; }
  void set_reduced_generation(std::uint64_t generation) { reduced_generation_ = generation; }
  std::int64_t steps = 0;          // reductions so far
  std::int64_t warmup_steps = -1;  // -1: not known yet

  /// From now on backward passes leave the gradients to the rank alone.
  void retire() { retired_ = true; }

  /// A step is noted: its gradients are reduced here.
  void reduction_noted() {
    noted_.clear();
    noted_buckets_ = 0;
  }

  /// Around a backward.
  void set_aside();
  void put_back(std::uint64_t generation_before);

  /// From the hook of parameter `i`: its gradient of this backward is complete.
  void gradient_ready(std::size_t i);

 private:
  Tensor on_wire(const Tensor& grad) const;
  void note_ready(std::size_t i);
  std::uint64_t reduced_at(std::size_t i) const;
  bool partial(std::size_t i) const;
  void add_aside(std::size_t i);
  void contribute_rest();
  void write_back();
  void drop();
  const optim::Optimizer* optimizer_;
  double share_;  // 1 / size
  ReducedAt& last_reduced_;
  std::vector<Tensor> params_;
  const backends::Backend* gpu_;  // that all parameters lie on; null: the host, or several devices
  std::vector<Tensor> aside_;
  std::vector<std::uint64_t> hooks_;
  const core::StepRecording* noting_ = nullptr;
  std::unordered_set<std::size_t> noted_;  // gradients that are complete in the step that is noted
  std::size_t noted_buckets_ = 0;          // and buckets
  std::unique_ptr<Pulls> pulls_;  // null: the strategy is no server that workers run ahead of
  std::unique_ptr<Reducer> reducer_;
  std::uint64_t reduced_generation_ = 0;
  bool ordered_ = false, retired_ = false;
};

/// Sums batch norm statistics over the ranks of a step.
class StepStatistics final : public StatisticsReducer {
 public:
  explicit StepStatistics(Rank& rank) : rank_(rank) {}
  void all_reduce_sum(double* values, size_t count, const char* name) override;

 private:
  Rank& rank_;
};

struct Training {
  explicit Training(Rank& rank) : statistics(rank) {
    if (rank.serves()) server = std::make_unique<ParameterServer>(rank);
    if (rank.settings.period > 0) local = std::make_unique<LocalTraining>(rank);
  }
  ReducedAt reduced_at;
  std::vector<std::unique_ptr<optim::Optimizer>> by_hand;  // one for each list of parameters that the program updates itself; they never step
  std::vector<std::unique_ptr<OptimizerBinding>> bindings;
  std::vector<std::weak_ptr<nn::Module>> plain_batchnorms;  // of the models that were broadcast
  std::map<const nn::Module*, std::int64_t> rows_at_sync;
  std::int64_t rows = 0;  // samples this rank has trained on
  std::uint64_t backwards = 0;
  const LossKind* running = nullptr;  // of the backward pass at work
  double running_weight = 0;
  StepStatistics statistics;
  std::unique_ptr<ParameterServer> server;  // null: there is none
  std::unique_ptr<LocalTraining> local;  // null: every step is a common one
};

/// This rank's; made at the first use.
Training& training(Rank& rank);

/// Called by all ranks when the optimizer is broadcast: where some rank does not know it, none does. An optimizer that is gone leaves its binding
/// behind, and whether a new one lies at the same address is another matter on each rank.
void agree_on_binding(Rank& rank, optim::Optimizer& optimizer);
/// The binding of the optimizer; made anew, collectively, when there is none or its parameters have been replaced.
OptimizerBinding& binding_of(Rank& rank, optim::Optimizer& optimizer, const std::vector<std::string>& names = {});

}  // namespace hvd::dist
