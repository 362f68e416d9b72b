// SPDX-License-Identifier: Apache-2.0
#include <hvd/amp.hpp>

#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

namespace hvd::amp {

AutocastGuard::AutocastGuard(Dtype dtype, bool enabled) : previous_(context().autocast), previous_dtype_(context().autocast_dtype) {
  if (!is_low_precision(dtype)) throw Error(std::string("AutocastGuard: bfloat16 or float16 expected, not ") + dtype_name(dtype));
  context().autocast = enabled;
  context().autocast_dtype = dtype;
}
AutocastGuard::~AutocastGuard() {
  context().autocast = previous_;
  context().autocast_dtype = previous_dtype_;
}
bool is_autocast_enabled() { return context().autocast; }
Dtype autocast_dtype() { return context().autocast_dtype; }

GradScalerOptions& GradScalerOptions::init_scale(double value) {
  if (!(value > 0) || !std::isfinite(value)) throw Error("GradScaler: the scale is positive and finite, not " + std::to_string(value));
  return init_scale_ = value, *this;
}
GradScalerOptions& GradScalerOptions::growth_factor(double value) {
  if (!(value > 1) || !std::isfinite(value)) throw Error("GradScaler: growth_factor is above 1, not " + std::to_string(value));
  return growth_factor_ = value, *this;
}
GradScalerOptions& GradScalerOptions::backoff_factor(double value) {
  if (!(value > 0 && value < 1)) throw Error("GradScaler: backoff_factor is between 0 and 1, not " + std::to_string(value));
  return backoff_factor_ = value, *this;
}
GradScalerOptions& GradScalerOptions::growth_interval(int64_t value) {
  if (value < 1) throw Error("GradScaler: growth_interval is at least 1, not " + std::to_string(value));
  return growth_interval_ = value, *this;
}
GradScalerOptions& GradScalerOptions::enabled(bool value) { return enabled_ = value, *this; }

namespace {

/// One pass over the values: the sum of squares of float32 numbers overflows no double.
bool all_finite(const Tensor& t) {
  const Tensor dense = t.contiguous();
  if (std::isfinite(core::backend_of(dense).sum_squares(dense.dtype(), dense.numel(), dense.raw_data()))) return true;
  return dense.dtype() == Dtype::kFloat64 && dense.isfinite().all().item<bool>();
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options), scale_(options.init_scale()) {}

Tensor GradScaler::scale(const Tensor& loss) const {
  if (!options_.enabled()) return loss;
  if (context().step_recording) throw Error("StepGraph: a loss scaler's scale changes, and the step would keep the one that it has now: use bfloat16, which needs none, or do without graphs");
  context().loss_scaled = true;
  return loss.mul(scale_);
}

GradScaler::Seen* GradScaler::find(const optim::Optimizer& optimizer) {
  const auto at = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& s) { return s.optimizer == &optimizer; });
  return at == seen_.end() ? nullptr : &*at;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return;
  if (find(optimizer)) throw Error("GradScaler: unscale_ was called for this optimizer since the last update");
  const NoGradGuard no_grad;
  Seen now{&optimizer, true, false};
  for (const Tensor& parameter : optimizer.parameters()) {
    if (!parameter.grad().defined()) continue;
    parameter.grad().mul_(1 / scale_);
    now.finite = all_finite(parameter.grad()) && now.finite;
  }
  seen_.push_back(now);
}

bool GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return optimizer.step(), true;
  if (!find(optimizer)) unscale_(optimizer);
  Seen& now = *find(optimizer);
  if (now.stepped) throw Error("GradScaler: step was called for this optimizer since the last update");
  now.stepped = true;
  if (now.finite) optimizer.step();
  return now.finite;
}

void GradScaler::update() {
  if (!options_.enabled()) return;
  if (seen_.empty()) throw Error("GradScaler: update without a step or unscale_ since the last one");
  const bool finite = std::all_of(seen_.begin(), seen_.end(), [](const Seen& s) { return s.finite; });
  seen_.clear();
  good_steps_ = finite ? good_steps_ + 1 : 0;
  // Neither zero nor infinity would ever be left again.
  if (!finite) scale_ = std::max(scale_ * options_.backoff_factor(), std::numeric_limits<double>::min());
  if (good_steps_ < options_.growth_interval()) return;
  if (std::isfinite(scale_ * options_.growth_factor())) scale_ *= options_.growth_factor();
  good_steps_ = 0;
}

std::string GradScaler::state() const {
  std::ostringstream text;
  text << std::setprecision(std::numeric_limits<double>::max_digits10) << scale_ << ' ' << good_steps_;
  return text.str();
}

void GradScaler::load_state(const std::string& text) {
  std::istringstream in(text);
  double scale = 0;
  int64_t good_steps = -1;
  if (!(in >> scale >> good_steps) || !(in >> std::ws).eof() || !(scale > 0) || !std::isfinite(scale) || good_steps < 0)
    throw Error("GradScaler: '" + text + "' is not the state of a gradient scaler");
  scale_ = scale;
  good_steps_ = good_steps;
  seen_.clear();
}

}  // namespace hvd::amp
