// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

#include <functional>
#include <vector>

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

/// Multiplies the rate by gamma at each of the milestones (epochs in rising order).
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// base (1 - epoch / total)^power, 0 from epoch `total` on.
class PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total, double power = 1);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  int64_t total_;
  double power_;
};

/// base factor(epoch), in effect at once.
class LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor);

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  std::function<double(int64_t)> factor_;
};

class OneCycleLROptions {
 public:
  /// `pct_start`: the share of the cycle in which the rate rises.
  OneCycleLROptions& pct_start(double value);
  /// The cycle starts at max_lr / div_factor and ends at that over final_div_factor.
  OneCycleLROptions& div_factor(double value);
  OneCycleLROptions& final_div_factor(double value);
  double pct_start() const { return start_; }
  double div_factor() const { return div_; }
  double final_div_factor() const { return final_div_; }

 private:
  double start_ = 0.3;
  double div_ = 25;
  double final_div_ = 1e4;
};

/// One rise to max_lr and one fall, both along half a cosine, in `total_steps` steps, in effect at once (Smith, Topin 2018; phases as
/// in PyTorch, momentum is left alone). Steps beyond the last one keep its rate.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, OneCycleLROptions options = {});

 protected:
  double rate(int64_t epoch, double current, double base) const override;

 private:
  double max_lr_;
  int64_t total_;
  OneCycleLROptions options_;
};

}  // namespace hvd::optim
