// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

namespace hvd::optim {

class RMSpropOptions : public OptimizerOptions {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  RMSpropOptions& lr(double value);
  RMSpropOptions& alpha(double value);
  RMSpropOptions& eps(double value);
  RMSpropOptions& weight_decay(double value);
  RMSpropOptions& momentum(double value);
  RMSpropOptions& centered(bool value = true);
  double lr() const { return lr_; }
  double alpha() const { return alpha_; }
  double eps() const { return eps_; }
  double weight_decay() const { return weight_decay_; }
  double momentum() const { return momentum_; }
  bool centered() const { return centered_; }

  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }

 private:
  double lr_;
  double alpha_ = 0.99;
  double eps_ = 1e-8;
  double weight_decay_ = 0;
  double momentum_ = 0;
  bool centered_ = false;
};

/// RMSprop (Tieleman, Hinton 2012; centered: Graves 2013): g = grad + wd p; s = a s + (1-a) g^2; centered: m = a m + (1-a) g and
/// s - m^2 in place of s; d = g / (sqrt(s) + eps); with momentum b = momentum b + d in place of d; p -= lr d.
class RMSprop : public Optimizer {
 public:
  RMSprop(std::vector<Tensor> params, RMSpropOptions options = {});
  RMSprop(std::vector<ParamGroup> groups, RMSpropOptions options = {});
  void step() override;
};

}  // namespace hvd::optim
