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
#include "period.hpp"

namespace hvd::dist {

/// A tensor that is averaged: contiguous values in host memory.
struct AveragedValue {
  GradientSpec spec;
  void* data = nullptr;
  bool parameter = true;  // false: state of the optimizer
};

/// The values of one optimizer: its parameters and the floating-point part of its state. Each rank counts by the samples it has
/// trained on since the last mean.
class Averager {
 public:
  /// Collective. Replaces the values by their mean over ranks, weighted by `samples` of each rank; where no rank has any, they stay.
  /// Makes as many allreduces as there are buckets, after a plan at the first call and when the list has changed. Throws on all ranks,
  /// naming the first difference, when the lists of the ranks differ.
  void average(Rank& rank, const std::vector<AveragedValue>& values, double samples);
  /// Of this rank's parameters at the last mean: the square of their distance from it, and of the length of the mean.
  double distance() const { return distance_; }
  double length() const { return length_; }
  std::size_t buckets() const { return reducer_ ? reducer_->buckets() : 0; }

 private:
  bool fits(const std::vector<AveragedValue>& values) const;
  std::unique_ptr<Reducer> reducer_;
  double distance_ = 0, length_ = 0;
};

/// What stands between two means of the ranks' parameters; a binding knows how to take one.
class LocalSteps : public StepStrategy {
 public:
  explicit LocalSteps(Rank& rank);
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
  void note_step(Progress& progress) {
    ++progress.since;
    ++steps_;
  }
  double samples_since(const Progress& progress) const { return samples_ - progress.samples_before; }
  void averaged(Progress& progress);
  /// Averages every optimizer that has made `least` steps or more since its last mean, and says so with `averaged`. Collective.
  virtual void average(std::int64_t least) = 0;

  Rank& rank_;

 private:
  void note_epoch();
  void note_means(double begun);

  double samples_ = 0;
  Period period_;
  const bool measured_;
  std::int64_t steps_ = 0, longest_since_ = 0;  // of this epoch; of the means being taken: the most steps since the one before
  double epoch_begun_ = 0, mean_ended_ = 0;     // seconds on this rank's clock
  double distance_ = 0, length_ = 0;            // of the means being taken
};

/// Whether this rank steps by itself now. Changes between steps only.
bool steps_locally(const Rank& rank);

}  // namespace hvd::dist
