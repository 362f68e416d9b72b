// SPDX-License-Identifier: Apache-2.0
#pragma once

// LibTorch's side of a rank's session: which optimizers are reduced, what their gradients stand at, and the random streams.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hvd/torch/gradients.hpp>

#include "dist/exchange.hpp"
#include "dist/rank.hpp"
#include "dist/reducer.hpp"

namespace hvd::torch_binding {

using dist::Rank;

/// The type a tensor travels in; half precision travels as float32. Error for types that no sum is formed of.
dist::DataType wire_type(const at::Tensor& t);
/// On the host, contiguous, in the type it travels in.
at::Tensor to_wire(const at::Tensor& t);

/// One optimizer's gradients. A gradient is *reduced* (the same on all ranks) or *partial* (a backward has reached it since). A
/// backward that adds to a reduced gradient first divides that by size(), so that the next sum over ranks contains it once.
class OptimizerBinding {
 public:
  OptimizerBinding(Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names);
  ~OptimizerBinding();
  OptimizerBinding(const OptimizerBinding&) = delete;
  OptimizerBinding& operator=(const OptimizerBinding&) = delete;

  const torch::optim::Optimizer* optimizer() const { return optimizer_; }
  /// Whether the parameters are still those, of those sizes, types and places, that the plan and the hooks were made for.
  bool fits(torch::optim::Optimizer& optimizer) const;
  bool shares_parameters(torch::optim::Optimizer& optimizer) const;

  void overlap();
  bool overlapped() const { return overlap_; }
  void reduce(Rank& rank);

  /// Around a backward. `discard`: what it adds counts for nothing (a filler).
  void before_backward(bool discard);
  void after_backward();

  std::uint64_t reduced_at = 0;    // number of the last backward that a reduction has seen
  std::int64_t steps = 0;          // reductions so far
  std::int64_t warmup_steps = -1;  // -1: not known yet
  std::vector<double> set_rates;   // learning rates that the last warm-up step has set, by group
  double set_factor = 1;

 private:
  void hook(std::size_t i);
  void ready(std::size_t i, const at::Tensor& incoming);
  void write_back();

  const torch::optim::Optimizer* optimizer_;
  double share_;
  std::vector<at::Tensor> params_;
  std::vector<const void*> places_;
  std::vector<unsigned> hooks_;
  std::vector<at::Tensor> aside_;  // gradients that a filler's backward must not change
  std::vector<char> reduced_;      // the gradient is the same on all ranks
  std::vector<char> leftover_;     // the running backward adds to a gradient that is not zero
  std::unique_ptr<dist::Reducer> reducer_;
  bool overlap_ = false, ordered_ = false, discard_ = false, running_ = false;
};

/// In-step draws come from a stream of the rank's own, so that masks differ between ranks and shuffles do not; the generator outside of
/// steps is the same on all ranks and advances as the sequential program's does.
class StepStreams final : public dist::StepObserver {
 public:
  explicit StepStreams(int rank) : rank_(rank) {}
  void enter() override;
  void leave() override;

 private:
  struct Stream {
    at::Generator generator;
    at::Tensor shared, own;
  };
  std::vector<Stream>& streams();
  int rank_;
  std::vector<Stream> streams_;
};

struct State {
  explicit State(Rank& rank) : streams(rank.rank()) { rank.observe_steps(&streams); }
  std::vector<std::unique_ptr<OptimizerBinding>> bindings;
  std::vector<std::weak_ptr<torch::nn::Module>> models;  // that were broadcast: searched for plain batch norm
  std::map<const torch::nn::Module*, std::int64_t> rows_at_sync;
  std::int64_t rows = 0;       // samples this rank has trained on
  std::uint64_t backwards = 0;  // so far
  StepStreams streams;
  bool warned_shared_gpu = false;
};

/// This rank's; made at the first use.
State& state(Rank& rank);
/// The binding of the optimizer; made anew, collectively, when there is none or its parameters have been replaced.
OptimizerBinding& binding_of(Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names = {});
/// All parameters of all groups.
std::vector<at::Tensor> parameters_of(torch::optim::Optimizer& optimizer);

}  // namespace hvd::torch_binding
