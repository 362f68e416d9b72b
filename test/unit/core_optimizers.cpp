// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against their formulas written out for one number, schedules, state.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

namespace {

using hvd::Tensor;
namespace optim = hvd::optim;

Tensor parameter(double value) { return hvd::tensor({value}, hvd::kFloat64).requires_grad_(); }

/// Three steps on p with gradient p^2 (depends on the value, so that errors build up).
template <class Optimizer>
double three_steps(Tensor p, Optimizer& optimizer) {
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    (p * p * p / 3).sum().backward();
    optimizer.step();
  }
  return p.item<double>();
}

TEST(CoreOptimizers, SgdIsPlainDescent) {
  Tensor p = parameter(1);
  optim::SGD optimizer({p}, 0.1);
  double q = 1;
  for (int i = 0; i < 3; ++i) q -= 0.1 * q * q;
  EXPECT_NEAR(three_steps(p, optimizer), q, 1e-15);
}

TEST(CoreOptimizers, SgdMomentumNesterovAndDecay) {
  for (bool nesterov : {false, true}) {
    Tensor p = parameter(1);
    optim::SGD optimizer({p}, optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(nesterov));
    double q = 1, v = 0;
    for (int i = 0; i < 3; ++i) {
      const double g = q * q + 0.01 * q;
      v = i == 0 ? g : 0.9 * v + g;
      q -= 0.1 * (nesterov ? g + 0.9 * v : v);
    }
    EXPECT_NEAR(three_steps(p, optimizer), q, 1e-15);
  }
  EXPECT_THROW(optim::SGD({parameter(1)}, optim::SGDOptions(0.1).nesterov(true)), hvd::Error);
}

TEST(CoreOptimizers, AdamAndAdamW) {
  for (bool decoupled : {false, true}) {
    Tensor p = parameter(1);
    std::unique_ptr<optim::Optimizer> optimizer;
    if (decoupled)
      optimizer = std::make_unique<optim::AdamW>(std::vector<Tensor>{p}, optim::AdamWOptions(0.01).weight_decay(0.1).betas({0.8, 0.9}));
    else
      optimizer = std::make_unique<optim::Adam>(std::vector<Tensor>{p}, optim::AdamOptions(0.01).weight_decay(0.1).betas({0.8, 0.9}));
    double q = 1, m = 0, v = 0;
    for (int t = 1; t <= 3; ++t) {
      const double g = q * q + (decoupled ? 0 : 0.1 * q);
      if (decoupled) q *= 1 - 0.01 * 0.1;
      m = 0.8 * m + 0.2 * g;
      v = 0.9 * v + 0.1 * g * g;
      q -= 0.01 * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.9, t))) + 1e-8);
    }
    EXPECT_NEAR(three_steps(p, *optimizer), q, 1e-14) << decoupled;
  }
}

TEST(CoreOptimizers, AdamWDecaysUnlessToldOtherwise) {
  EXPECT_DOUBLE_EQ(optim::AdamWOptions(1e-3).weight_decay(), 0.01);
  EXPECT_DOUBLE_EQ(optim::AdamOptions(1e-3).weight_decay(), 0);
}

TEST(CoreOptimizers, FactorScalesTheStepAndNotTheRate) {
  Tensor p = parameter(1);
  optim::SGD optimizer({p}, 0.5);
  optimizer.set_lr_factor(0.1);
  p.sum().backward();
  optimizer.step();
  EXPECT_DOUBLE_EQ(p.item<double>(), 0.95);
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.5);
}

TEST(CoreOptimizers, ParametersWithoutGradientStay) {
  Tensor used = parameter(1), unused = parameter(2);
  optim::SGD optimizer({used, unused}, optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.5));
  used.sum().backward();
  optimizer.step();
  EXPECT_DOUBLE_EQ(unused.item<double>(), 2);
  EXPECT_EQ(optimizer.state().size(), 3u);  // 0.momentum, 0.step, group.0.lr
}

TEST(CoreOptimizers, GroupsHaveTheirOwnRates) {
  Tensor a = parameter(1), b = parameter(1);
  optim::SGD optimizer(std::vector<optim::ParamGroup>{optim::ParamGroup({a}), optim::ParamGroup({b}, optim::SGDOptions(0.5))}, 0.1);
  (a + b).sum().backward();
  optimizer.step();
  EXPECT_DOUBLE_EQ(a.item<double>(), 0.9);
  EXPECT_DOUBLE_EQ(b.item<double>(), 0.5);
  optimizer.set_lr(0.2);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[1].options().get_lr(), 0.2);
  EXPECT_THROW(optimizer.add_param_group(optim::ParamGroup({a})), hvd::Error);
}

TEST(CoreOptimizers, StateContinuesWhereItWasTaken) {
  Tensor p = parameter(1), q = parameter(1);
  optim::Adam first({p}, 0.1), second({q}, 0.7);
  three_steps(p, first);
  {
    const hvd::NoGradGuard no_grad;
    q.copy_(p);
  }
  second.load_state(first.state());
  EXPECT_DOUBLE_EQ(second.lr(), 0.1);
  EXPECT_EQ(three_steps(p, first), three_steps(q, second));
}

TEST(CoreOptimizers, StateThatDoesNotFitIsRefusedAndChangesNothing) {
  Tensor p = parameter(1);
  optim::Adam optimizer({p}, 0.1);
  three_steps(p, optimizer);
  const size_t entries = optimizer.state().size();
  EXPECT_THROW(optimizer.load_state({{"0.exp_avg", hvd::zeros({2}, hvd::kFloat64)}}), hvd::Error);
  EXPECT_THROW(optimizer.load_state({{"1.exp_avg", hvd::zeros({1}, hvd::kFloat64)}}), hvd::Error);
  EXPECT_THROW(optimizer.load_state({{"0.momentum", hvd::zeros({1}, hvd::kFloat64)}}), hvd::Error);
  EXPECT_THROW(optimizer.load_state({{"group.1.lr", hvd::tensor(0.1)}}), hvd::Error);
  EXPECT_EQ(optimizer.state().size(), entries);
}

TEST(CoreOptimizers, SchedulesFollowTheirFormulas) {
  Tensor p = parameter(1);
  optim::SGD a({p}, 1.0), b({p}, 1.0), c({p}, 1.0);
  optim::StepLR step(a, 2, 0.5);
  optim::CosineAnnealingLR cosine(b, 4, 0.2);
  optim::LinearWarmup warmup(c, 4);
  EXPECT_DOUBLE_EQ(warmup.last_lr(), 0.25);
  const double steps[] = {1, 0.5, 0.5, 0.25}, warm[] = {0.5, 0.75, 1, 1};
  for (int i = 0; i < 4; ++i) {
    step.step();
    cosine.step();
    warmup.step();
    EXPECT_DOUBLE_EQ(step.last_lr(), steps[i]);
    EXPECT_DOUBLE_EQ(warmup.last_lr(), warm[i]);
    EXPECT_NEAR(cosine.last_lr(), 0.2 + 0.8 * (1 + std::cos(M_PI * (i + 1) / 4)) / 2, 1e-15);
  }
}

/// Training on either device in either dtype takes the same path.
TEST(CoreOptimizers, TrainingAgreesAcrossDevices) {
  const core_tests::Defaults defaults;
  std::vector<Tensor> results;
  for (hvd::Device device : hvd::available_devices()) {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::set_default_device(device);
    hvd::manual_seed(6);
    hvd::nn::Sequential net(hvd::nn::Linear(6, 16), hvd::nn::Tanh(), hvd::nn::Dropout(0.2), hvd::nn::Linear(16, 3));
    optim::Adam optimizer(net->parameters(), 0.01);
    const Tensor x = hvd::randn({20, 6}), y = hvd::randint(0, 3, {20});
    double first = 0, last = 0;
    for (int i = 0; i < 100; ++i) {
      optimizer.zero_grad();
      const Tensor loss = hvd::nn::functional::cross_entropy(net(x), y);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
      if (i == 0) first = last;
    }
    EXPECT_LT(last, first / 2);
    results.push_back(net->parameters()[0]);
  }
  for (const Tensor& t : results) EXPECT_LT(core_tests::difference(t, results[0]), 1e-9);
}

}  // namespace
