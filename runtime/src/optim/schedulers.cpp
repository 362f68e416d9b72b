// SPDX-License-Identifier: Apache-2.0
#include <hvd/optim/schedulers.hpp>

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

}  // namespace hvd::optim
