// SPDX-License-Identifier: Apache-2.0
#include "core/step_recording.hpp"

#include <hvd/optim/schedulers.hpp>

#include <algorithm>
#include <cmath>

namespace hvd::optim {

namespace {

void require_positive(int64_t value, const char* what) {
  if (value < 1) throw Error(std::string(what) + " is at least 1, not " + std::to_string(value));
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const ParamGroup& group : optimizer.param_groups()) base_.push_back(group.options().get_lr());
}

void LRScheduler::step() {
  if (core::later_in_step([this] { step(); })) return;
  ++epoch_;
  apply();
}

void LRScheduler::apply() {
  for (size_t g = 0; g < base_.size(); ++g) {
    OptimizerOptions& options = optimizer_.param_groups()[g].options();
    options.set_lr(rate(epoch_, options.get_lr(), base_[g]));
  }
}

double LRScheduler::last_lr() const { return optimizer_.lr(); }
std::vector<double> LRScheduler::last_lrs() const {
  std::vector<double> out;
  for (const ParamGroup& group : optimizer_.param_groups()) out.push_back(group.options().get_lr());
  return out;
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma) : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  require_positive(step_size, "StepLR: step_size");
}
double StepLR::rate(int64_t epoch, double current, double) const { return epoch % step_size_ == 0 ? current * gamma_ : current; }

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  require_positive(t_max, "CosineAnnealingLR: t_max");
}
double CosineAnnealingLR::rate(int64_t epoch, double, double base) const {
  return eta_min_ + (base - eta_min_) * (1 + std::cos(3.14159265358979323846 * static_cast<double>(epoch) / static_cast<double>(t_max_))) / 2;
}

LinearWarmup::LinearWarmup(Optimizer& optimizer, int64_t warmup_steps) : LRScheduler(optimizer), warmup_(warmup_steps) {
  require_positive(warmup_steps, "LinearWarmup: warmup_steps");
  apply();
}
double LinearWarmup::rate(int64_t epoch, double current, double base) const {
  return epoch < warmup_ ? base * static_cast<double>(epoch + 1) / static_cast<double>(warmup_) : current;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  for (size_t i = 0; i < milestones_.size(); ++i) {
    require_positive(milestones_[i], "MultiStepLR: a milestone");
    if (i > 0 && milestones_[i] < milestones_[i - 1]) throw Error("MultiStepLR: the milestones do not rise");
  }
}
double MultiStepLR::rate(int64_t epoch, double current, double) const {
  for (const int64_t milestone : milestones_)
    if (milestone == epoch) current *= gamma_;
  return current;
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total, double power) : LRScheduler(optimizer), total_(total), power_(power) {
  require_positive(total, "PolynomialLR: total");
}
double PolynomialLR::rate(int64_t epoch, double, double base) const {
  return epoch >= total_ ? 0 : base * std::pow(1 - static_cast<double>(epoch) / static_cast<double>(total_), power_);
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor) : LRScheduler(optimizer), factor_(std::move(factor)) {
  if (!factor_) throw Error("LambdaLR: no function");
  apply();
}
double LambdaLR::rate(int64_t epoch, double, double base) const { return base * factor_(epoch); }

OneCycleLROptions& OneCycleLROptions::pct_start(double value) { return start_ = value, *this; }
OneCycleLROptions& OneCycleLROptions::div_factor(double value) { return div_ = value, *this; }
OneCycleLROptions& OneCycleLROptions::final_div_factor(double value) { return final_div_ = value, *this; }

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, OneCycleLROptions options)
    : LRScheduler(optimizer), max_lr_(max_lr), total_(total_steps), options_(options) {
  require_positive(total_steps, "OneCycleLR: total_steps");
  if (!(options.pct_start() >= 0 && options.pct_start() <= 1))
    throw Error("OneCycleLR: pct_start " + std::to_string(options.pct_start()) + " is not between 0 and 1");
  if (!(options.div_factor() > 0 && options.final_div_factor() > 0)) throw Error("OneCycleLR: the factors are positive");
  apply();
}
double OneCycleLR::rate(int64_t epoch, double, double) const {
  const double first = max_lr_ / options_.div_factor(), last = first / options_.final_div_factor();
  const double step = static_cast<double>(std::min(epoch, total_ - 1));
  const double top = options_.pct_start() * static_cast<double>(total_) - 1, end = static_cast<double>(total_) - 1;
  const auto along = [](double from, double to, double share) { return to + (from - to) / 2 * (1 + std::cos(3.14159265358979323846 * share)); };
  if (step <= top) return along(first, max_lr_, top > 0 ? step / top : 1);
  return along(max_lr_, last, end > top ? (step - top) / (end - top) : 1);
}

}  // namespace hvd::optim
