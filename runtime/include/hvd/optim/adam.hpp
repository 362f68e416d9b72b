// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

#include <utility>

namespace hvd::optim {

class AdamOptions : public OptimizerOptions {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  AdamOptions& lr(double value);
  AdamOptions& betas(std::pair<double, double> value);
  AdamOptions& eps(double value);
  AdamOptions& weight_decay(double value);
  double lr() const { return lr_; }
  std::pair<double, double> betas() const { return {beta1_, beta2_}; }
  double eps() const { return eps_; }
  double weight_decay() const { return weight_decay_; }

  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }

 private:
  double lr_;
  double beta1_ = 0.9;
  double beta2_ = 0.999;
  double eps_ = 1e-8;
  double weight_decay_ = 0;
};

/// AdamW's weight decay is 0.01 unless set.
class AdamWOptions : public AdamOptions {
 public:
  AdamWOptions(double lr = 1e-3) : AdamOptions(lr) { AdamOptions::weight_decay(1e-2); }
  AdamWOptions& lr(double value);
  AdamWOptions& betas(std::pair<double, double> value);
  AdamWOptions& eps(double value);
  AdamWOptions& weight_decay(double value);
  using AdamOptions::betas;
  using AdamOptions::eps;
  using AdamOptions::lr;
  using AdamOptions::weight_decay;
  std::unique_ptr<OptimizerOptions> clone() const override;
};

/// Adam (Kingma, Ba 2015): m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2;
/// p -= lr m / (1-b1^t) / (sqrt(v / (1-b2^t)) + eps). Weight decay is added to g.
class Adam : public Optimizer {
 public:
  Adam(std::vector<Tensor> params, AdamOptions options = {});
  Adam(std::vector<ParamGroup> groups, AdamOptions options = {});
  void step() override;
};

/// AdamW (Loshchilov, Hutter 2019): as Adam, but weight decay shrinks p by lr wd, apart from the gradient.
class AdamW : public Optimizer {
 public:
  AdamW(std::vector<Tensor> params, AdamWOptions options = {});
  AdamW(std::vector<ParamGroup> groups, AdamWOptions options = {});
  void step() override;
};

}  // namespace hvd::optim
