// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

#include <utility>

/// Optimizers for large batches: the step of each parameter tensor is scaled by a trust ratio of its own.
namespace hvd::optim {

class LARSOptions : public OptimizerOptions {
 public:
  LARSOptions(double lr) : lr_(lr) {}
  LARSOptions& lr(double value);
  LARSOptions& momentum(double value);
  LARSOptions& weight_decay(double value);
  LARSOptions& trust_coefficient(double value);
  LARSOptions& eps(double value);
  /// Whether the group's steps are scaled; biases and the parameters of norms are usually left out, in a group of their own.
  LARSOptions& adapt(bool value);
  double lr() const { return lr_; }
  double momentum() const { return momentum_; }
  double weight_decay() const { return weight_decay_; }
  double trust_coefficient() const { return trust_; }
  double eps() const { return eps_; }
  bool adapt() const { return adapt_; }

  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }

 private:
  double lr_;
  double momentum_ = 0.9;
  double weight_decay_ = 0;
  double trust_ = 1e-3;
  double eps_ = 1e-8;
  bool adapt_ = true;
};

/// LARS (You, Gitman, Ginsburg 2017): g = ratio (grad + wd p) with ratio = trust |p| / (|grad| + wd |p| + eps), 1 where |p| or |grad|
/// is 0; v = momentum v + g; p -= lr v.
class LARS : public Optimizer {
 public:
  LARS(std::vector<Tensor> params, LARSOptions options);
  LARS(std::vector<ParamGroup> groups, LARSOptions options);
  void step() override;
};

class LAMBOptions : public OptimizerOptions {
 public:
  LAMBOptions(double lr = 1e-3) : lr_(lr) {}
  LAMBOptions& lr(double value);
  LAMBOptions& betas(std::pair<double, double> value);
  LAMBOptions& eps(double value);
  LAMBOptions& weight_decay(double value);
  /// As LARSOptions::adapt.
  LAMBOptions& adapt(bool value);
  double lr() const { return lr_; }
  std::pair<double, double> betas() const { return {beta1_, beta2_}; }
  double eps() const { return eps_; }
  double weight_decay() const { return weight_decay_; }
  bool adapt() const { return adapt_; }

  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }

 private:
  double lr_;
  double beta1_ = 0.9;
  double beta2_ = 0.999;
  double eps_ = 1e-6;
  double weight_decay_ = 1e-2;
  bool adapt_ = true;
};

/// LAMB (You et al. 2020): with Adam's m and v, r = m / (1-b1^t) / (sqrt(v / (1-b2^t)) + eps) + wd p; p -= lr |p| / |r| r, the ratio
/// being 1 where |p| or |r| is 0.
class LAMB : public Optimizer {
 public:
  LAMB(std::vector<Tensor> params, LAMBOptions options = {});
  LAMB(std::vector<ParamGroup> groups, LAMBOptions options = {});
  void step() override;
};

}  // namespace hvd::optim
