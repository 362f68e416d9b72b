// SPDX-License-Identifier: Apache-2.0
#pragma once

// Local steps: ranks step by themselves, and now and then take the mean of what they have come to (local SGD; Stich 2019, "Local SGD
// Converges Fast and Communicates Little"; switched on after some steps, Lin et al. 2020, "Don't Use Large Mini-Batches, Use Local SGD").

#include <cstdint>
#include <memory>
#include <vector>

#include <hvd/dist/loss_kind.hpp>

#include "../rank.hpp"
#include "../reducer.hpp"

namespace hvd::dist {

/// A tensor that is averaged: contiguous values in host memory.
struct AveragedValue {
  GradientSpec spec;
  void* data = nullptr;
};

/// The values of one optimizer: its parameters and the floating-point part of its state. Each rank counts by the samples it has
/// trained on since the last mean.
class Averager {
 public:
  /// Collective. Replaces the values by their mean over ranks, weighted by `samples` of each rank; where no rank has any, they stay.
  /// Makes as many allreduces as there are buckets, after a plan at the first call and when the list has changed. Throws on all ranks,
  /// naming the first difference, when the lists of the ranks differ.
  void average(Rank& rank, const std::vector<AveragedValue>& values, double samples);
  std::size_t buckets() const { return reducer_ ? reducer_->buckets() : 0; }

 private:
  bool fits(const std::vector<AveragedValue>& values) const;
  std::unique_ptr<Reducer> reducer_;
};

/// What stands between two means of the ranks' parameters; a binding knows how to take one.
class LocalSteps : public StepStrategy {
 public:
  explicit LocalSteps(Rank& rank) : rank_(rank) { rank.strategy = this; }
  ~LocalSteps() override {
    if (rank_.strategy == this) rank_.strategy = nullptr;
  }

  void after_step(bool pass_over) override;
  /// A backward of this rank has begun, outside or inside a slice. Returns what its gradients are multiplied by.
  double begin_backward(LossKind kind);

 protected:
  /// An optimizer has stepped, or is about to.
  struct Progress {
    std::int64_t since = 0;     // steps since the last mean
    double samples_before = 0;  // of this rank, at the last mean
    Averager averager;
  };
  void note_step(Progress& progress) { ++progress.since; }
  double samples_since(const Progress& progress) const { return samples_ - progress.samples_before; }
  void averaged(Progress& progress) {
    progress.since = 0;
    progress.samples_before = samples_;
  }
  /// Averages every optimizer that has made `least` steps or more since its last mean. Collective.
  virtual void average(std::int64_t least) = 0;

  Rank& rank_;

 private:
  double samples_ = 0;
};

/// Whether this rank steps by itself now. Changes between steps only.
bool steps_locally(const Rank& rank);

}  // namespace hvd::dist
