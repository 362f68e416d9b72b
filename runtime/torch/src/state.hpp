// SPDX-License-Identifier: Apache-2.0
#pragma once

// LibTorch's side of a rank's session: which optimizers are reduced, what their gradients stand at, and the random streams.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <hvd/torch/gradients.hpp>

#include "dist/exchange.hpp"
#include "dist/rank.hpp"
#include "hand_updated.hpp"
#include "local_training.hpp"
#include "number_pairs.hpp"
#include "optimizer_binding.hpp"

namespace hvd::torch_binding {

using dist::Rank;

/// In-step draws come from a stream of the rank's own, so that masks differ between ranks and shuffles do not; the generator outside of
/// steps is the same on all ranks and advances as the sequential program's does.
class StepStreams final : public dist::StepObserver {
 public:
  StepStreams(int rank, NumberPairs& pairs) : rank_(rank), pairs_(pairs) {}
  void enter() override;
  void leave() override;

 private:
  struct Stream {
    at::Generator generator;
    at::Tensor shared, own;
  };
  std::vector<Stream>& streams();
  int rank_;
  NumberPairs& pairs_;  // looks at what happens inside a step, with draws of the rank's own
  std::vector<Stream> streams_;
};

struct State {
  explicit State(Rank& rank) : streams(rank.rank(), pairs) {
    rank.observe_steps(&streams);
    if (rank.serves()) server = std::make_unique<dist::ParameterServer>(rank);
    if (rank.settings.period > 0) local = std::make_unique<LocalTraining>(rank);
  }
  std::vector<std::unique_ptr<OptimizerBinding>> bindings;
  ReducedAt reduced_at;
  HandUpdated by_hand;
  struct Known {
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor;
    std::string name;
  };
  std::map<const void*, Known> known;  // parameters that were broadcast with their model, by place
  std::vector<std::weak_ptr<torch::nn::Module>> batch_norms;  // of the models that were broadcast
  bool sync_norms = false;  // batch norms take their statistics over ranks
  bool in_instance_norm = false;  // which is computed by the operator of batch norm
  std::unordered_set<const void*> reached;  // places of parameters that a backward of a slice without rows would have given a gradient
  std::map<const torch::nn::Module*, std::int64_t> rows_at_sync;
  std::int64_t rows = 0;       // samples this rank has trained on
  std::uint64_t backwards = 0;  // so far
  const LossKind* running = nullptr;  // of the backward pass at work
  bool discards = false;  // that counts for nothing
  NumberPairs pairs;
  StepStreams streams;
  std::unique_ptr<dist::ParameterServer> server;  // null: there is none
  std::unique_ptr<LocalTraining> local;  // null: every step is a common one
  std::atomic<bool> warned_shared_gpu{false};  // threads of a loader bind devices, too
};

/// This rank's; made at the first use.
State& state(Rank& rank);
/// The binding of the optimizer; made anew, collectively, when there is none or its parameters have been replaced.
OptimizerBinding& binding_of(Rank& rank, torch::optim::Optimizer& optimizer, CallSite site = {});
/// Called by all ranks when the optimizer is broadcast: where some rank does not know it, none does. An optimizer that is gone leaves its binding
/// behind, and whether a new one lies at the same address is another matter on each rank.
void agree_on_binding(Rank& rank, torch::optim::Optimizer& optimizer);
/// The parameters of the model, and what messages call them.
void note_parameters(Rank& rank, const torch::nn::Module& model);
/// A parameter of no model.
void note_parameter(Rank& rank, const at::Tensor& parameter, const std::string& name);
}  // namespace hvd::torch_binding
