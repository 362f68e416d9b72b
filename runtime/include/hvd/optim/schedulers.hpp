// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

namespace hvd::optim {

/// Base of learning-rate schedules. The optimizer must outlive it.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  /// Moves to the next epoch (or step: whatever the program counts in) and sets the rates.
  void step();
  /// Rate of the first group, as the last step() left it.
  double last_lr() const;
  std::vector<double> last_lrs() const;
  int64_t last_epoch() const { return epoch_; }
  /// For resuming: the number of step() calls so far; sets no rate.
  void set_last_epoch(int64_t epoch) { epoch_ = epoch; }

 protected:
  explicit LRScheduler(Optimizer& optimizer);
  /// Rate of a group in `epoch`, given the rate it has now and the one it had at construction.
  virtual double rate(int64_t epoch, double current, double base) const = 0;
  void apply();

 private:
  Optimizer& optimizer_;
  std::vector<double> base_;
  int64_t epoch_ = 0;
};

/// Multiplies the rate by gamma every step_size epochs.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  int64_t step_size_;
  double gamma_;
};

/// eta_min + (base - eta_min) (1 + cos(pi epoch / t_max)) / 2 (Loshchilov, Hutter 2017, without restarts).
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  int64_t t_max_;
  double eta_min_;
};

/// From base / warmup_steps, in effect at once, linearly to base, reached by step() number warmup_steps - 1; afterwards it
/// leaves the rates alone.
class LinearWarmup : public LRScheduler {
 public:
  LinearWarmup(Optimizer& optimizer, int64_t warmup_steps);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  int64_t warmup_;
};

}  // namespace hvd::optim
