// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>
#include <hvd/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Mixed precision (Micikevicius et al., "Mixed precision training", ICLR 2018): parameters, gradients and optimizer state stay in
/// float32; products and convolutions run in bfloat16 or float16. float16 needs a scaled loss besides, because small gradients vanish in it.
///
///   hvd::amp::GradScaler scaler;
///   {
///     hvd::amp::AutocastGuard autocast(hvd::kFloat16);
///     loss = criterion(model(batch.data), batch.target);
///   }
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);                 // only where gradients are read in between
///   hvd::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
///   scaler.step(optimizer);
///   scaler.update();
namespace hvd::amp {

/// While it lives, operations of this thread on float32 tensors choose their precision: linear, conv2d, conv_transpose2d, mm, bmm and
/// matmul take and return `dtype`; softmax, log_softmax, layer_norm, losses, sums, means, norms, exp, log, pow and softplus
/// work in float32; the others in what they are given, where dtypes meet in the wider one. float64 stays float64. Backward passes
/// run in the precision of their forward pass. Guards nest; the innermost one counts.
class AutocastGuard {
 public:
  /// bfloat16 or float16; with `enabled` false nothing is cast, whatever guard is around.
  explicit AutocastGuard(Dtype dtype, bool enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  bool previous_;
  Dtype previous_dtype_;
};

bool is_autocast_enabled();
Dtype autocast_dtype();

class GradScalerOptions {
 public:
  /// Factor of the first losses.
  GradScalerOptions& init_scale(double value);
  /// After `growth_interval` steps without overflow the scale is multiplied by `growth_factor` (above 1), after an overflow by
  /// `backoff_factor` (below 1).
  GradScalerOptions& growth_factor(double value);
  GradScalerOptions& backoff_factor(double value);
  GradScalerOptions& growth_interval(int64_t value);
  /// A disabled scaler scales by 1 and takes every step.
  GradScalerOptions& enabled(bool value);

  double init_scale() const { return init_scale_; }
  double growth_factor() const { return growth_factor_; }
  double backoff_factor() const { return backoff_factor_; }
  int64_t growth_interval() const { return growth_interval_; }
  bool enabled() const { return enabled_; }

 private:
  double init_scale_ = 65536, growth_factor_ = 2, backoff_factor_ = 0.5;
  int64_t growth_interval_ = 2000;
  bool enabled_ = true;
};

/// Scales losses so that gradients neither vanish nor overflow in 16 bits. A step whose gradients hold an infinity or a NaN is left out
/// and lowers the scale. Gradients are divided by the scale and tested once, on what the optimizer would use: where ranks reduce gradients
/// before, all ranks test the same numbers, decide alike and keep one scale.
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {});

  /// loss times the scale, in the loss' dtype.
  Tensor scale(const Tensor& loss) const;
  /// Divides the gradients of the optimizer's parameters by the scale, and notes whether all of them are finite. Once for each
  /// optimizer between two update(); throws hvd::Error the second time.
  void unscale_(optim::Optimizer& optimizer);
  /// Takes the optimizer's step, after unscale_ where that has not been called, unless a gradient is not finite. Whether it was taken.
  bool step(optim::Optimizer& optimizer);
  /// Ends the round of steps: lowers the scale when any of them was left out, raises it after enough that were not.
  void update();

  double get_scale() const { return options_.enabled() ? scale_ : 1; }
  bool is_enabled() const { return options_.enabled(); }

  /// Scale and steps since it changed, as text for a checkpoint; load_state throws hvd::Error on other text.
  std::string state() const;
  void load_state(const std::string& text);

 private:
  struct Seen {
    const optim::Optimizer* optimizer;
    bool finite;
    bool stepped;
  };
  Seen* find(const optim::Optimizer& optimizer);

  GradScalerOptions options_;
  double scale_;
  int64_t good_steps_ = 0;
  std::vector<Seen> seen_;  // since the last update
};

}  // namespace hvd::amp
