// SPDX-License-Identifier: Apache-2.0
#pragma once

// The gradients of one LibTorch optimizer: where they stand in the reducer's buckets, and when they are summed over ranks.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include "dist/rank.hpp"
#include "dist/reducer.hpp"
#include "dist/strategy/server.hpp"

namespace hvd::torch_binding {

/// The number of the backward after which a parameter's gradient was last summed over ranks, by the parameter's place.
using ReducedAt = std::unordered_map<const void*, std::uint64_t>;

/// All parameters of all groups.
std::vector<at::Tensor> parameters_of(torch::optim::Optimizer& optimizer);

/// One optimizer's gradients. A gradient is *reduced* (the same on all ranks) or *partial* (a backward has reached it since). A
/// backward that adds to a reduced gradient first divides that by size(), so that the next sum over ranks contains it once.
/// Where type and place allow it, gradients are views of the bucket, and nothing is copied.
class OptimizerBinding {
 public:
  OptimizerBinding(dist::Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names, ReducedAt& reduced_at);
  ~OptimizerBinding();
  OptimizerBinding(const OptimizerBinding&) = delete;
  OptimizerBinding& operator=(const OptimizerBinding&) = delete;

  const torch::optim::Optimizer* optimizer() const { return optimizer_; }
  /// Whether the parameters are still those, of those sizes, types and devices, that the plan and the hooks were made for.
  bool fits(torch::optim::Optimizer& optimizer) const;
  bool shares_parameters(torch::optim::Optimizer& optimizer) const;

  void overlap();
  bool overlapped() const { return overlap_; }
  /// How many gradients the hooks had sent when the last reduction began.
  std::size_t sent_by_hooks() const { return sent_by_hooks_; }
  /// Sums what the backward passes up to number `backwards` have left. Collective. With a parameter server it alone gets the sums, and the
  /// workers' gradients are undefined afterwards.
  void reduce(dist::Rank& rank, std::uint64_t backwards, CallSite site);
  /// Under HVD_CHECK: throws when the parameters are not the same on all ranks. Collective.
  void check_parameters(dist::Rank& rank, CallSite site) const;
  /// Sums for the server, which sends the parameters back later; from a worker that goes on meanwhile, sends its part.
  void push(dist::Rank& rank, dist::ParameterServer& server, std::uint64_t backwards, CallSite site);

  /// Around a backward. `discard`: what it adds counts for nothing (a filler); the caller keeps the gradients as they were.
  void before_backward(bool discard);
  void after_backward() { running_ = false; }
  void parameters(std::vector<at::Tensor>& out) const;
  /// Are the parameters what they were when it was planned?
  bool is_current() const;

  /// What a binding that takes the place of this one goes on with.
  struct Progress {
    std::uint64_t reduced_at = 0;    // number of the last backward that a reduction has seen
    std::int64_t steps = 0;          // reductions so far
    std::int64_t warmup_steps = -1;  // -1: not known yet
    double set_factor = 1;           // of the learning rate, by the last warm-up step
    bool told_unused = false, told_sparse = false;
    bool before_step = false;        // a reduction that did not know the optimizer has left its rates as they were
  };
  Progress progress;

 private:
  struct Parameter {
    at::Tensor tensor;
    const void* place;    // of its TensorImpl
    c10::Device device;
    at::Tensor bucket;    // its part of the reducer's memory, on the host or on the GPU
    unsigned hook = ~0u;
    bool shared = false;    // the gradient may be a view of the bucket
    bool reduced = false;   // the gradient is the same on all ranks
    bool matches = true;    // the plan still fits it
  };

  std::vector<dist::GradientSpec> specs(const std::vector<std::string>& names) const;
  void map_buckets();
  void map_bucket(Parameter& p, std::shared_ptr<char> place, dist::DataType type) const;
  bool matches(std::size_t i) const;
  bool in_bucket(std::size_t i) const;
  void hook(std::size_t i);
  void ready(std::size_t i);
  void contribute_pending(const c10::Device* on);
  void contribute(std::size_t i);
  void contribute_again(dist::Rank& rank, std::size_t i);
  void write_back(std::size_t i);
  void drop();
  void tell(const dist::Rank& rank);

  const torch::optim::Optimizer* optimizer_;
  double share_;
  ReducedAt& last_reduced_;
  std::vector<Parameter> params_;
  std::unique_ptr<dist::Pulls> pulls_;  // null: the strategy is no server that workers run ahead of
  std::unique_ptr<dist::Reducer> reducer_;
  std::mutex mutex_;                   // each device runs its part of a backward on a thread of its own
  std::vector<std::size_t> pending_;   // their hooks have run; the gradients stand when the next hook of the device runs
  std::vector<std::function<void()>> written_;  // devices may still be taking sums out of the buckets: each waits for one
  std::size_t sent_by_hooks_ = 0;
  bool overlap_ = false, ordered_ = false, discard_ = false, running_ = false, sparse_ = false;
};

}  // namespace hvd::torch_binding
