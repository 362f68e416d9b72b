// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against their formulas written out for one number, schedules, state.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

namespace core_optimizers_test {
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

TEST(CoreOptimizers, RmspropPlainCenteredAndWithMomentum) {
  for (const bool centered : {false, true})
    for (const double momentum : {0.0, 0.8}) {
      Tensor p = parameter(1);
      optim::RMSprop optimizer({p}, optim::RMSpropOptions(0.01).alpha(0.9).weight_decay(0.1).momentum(momentum).centered(centered));
      double q = 1, s = 0, mean = 0, b = 0;
      for (int i = 0; i < 3; ++i) {
        const double g = q * q + 0.1 * q;
        s = 0.9 * s + 0.1 * g * g;
        mean = 0.9 * mean + 0.1 * g;
        b = momentum * b + g / (std::sqrt(s - (centered ? mean * mean : 0)) + 1e-8);
        q -= 0.01 * b;
      }
      EXPECT_NEAR(three_steps(p, optimizer), q, 1e-14) << centered << momentum;
      EXPECT_EQ(optimizer.state().size(), 3u + centered + (momentum != 0));  // square_avg, step, group.0.lr
    }
}

TEST(CoreOptimizers, LarsScalesByTheTrustRatio) {
  for (const bool adapt : {true, false}) {
    Tensor p = parameter(2);
    optim::LARS optimizer({p}, optim::LARSOptions(0.5).momentum(0.9).weight_decay(0.01).trust_coefficient(0.02).adapt(adapt));
    double q = 2, v = 0;
    for (int i = 0; i < 3; ++i) {
      const double ratio = adapt ? 0.02 * q / (q * q + 0.01 * q + 1e-8) : 1;
      v = 0.9 * v + ratio * (q * q + 0.01 * q);
      q -= 0.5 * v;
    }
    EXPECT_NEAR(three_steps(p, optimizer), q, 1e-14) << adapt;
  }
}

TEST(CoreOptimizers, LambScalesAdamsDirection) {
  Tensor p = parameter(2);
  optim::LAMB optimizer({p}, optim::LAMBOptions(0.01).betas({0.8, 0.9}).weight_decay(0.1));
  double q = 2, m = 0, v = 0;
  for (int t = 1; t <= 3; ++t) {
    const double g = q * q;
    m = 0.8 * m + 0.2 * g;
    v = 0.9 * v + 0.1 * g * g;
    const double r = m / (1 - std::pow(0.8, t)) / (std::sqrt(v / (1 - std::pow(0.9, t))) + 1e-6) + 0.1 * q;
    q -= 0.01 * std::abs(q) / std::abs(r) * r;
  }
  EXPECT_NEAR(three_steps(p, optimizer), q, 1e-14);
}

TEST(CoreOptimizers, TrustRatiosAreThoseOfWholeTensors) {
  Tensor p = hvd::tensor({3.0, 4.0}, hvd::kFloat64).requires_grad_();
  optim::LARS optimizer({p}, optim::LARSOptions(1).momentum(0).trust_coefficient(0.1).eps(0));
  (p * hvd::tensor({0.0, 2.0}, hvd::kFloat64)).sum().backward();
  optimizer.step();  // |p| = 5, |g| = 2
  EXPECT_DOUBLE_EQ(p[0].item<double>(), 3);
  EXPECT_DOUBLE_EQ(p[1].item<double>(), 4 - 0.1 * 5 / 2 * 2);
  Tensor zero = hvd::zeros({2}, hvd::kFloat64).requires_grad_();
  optim::LAMB from_zero({zero}, optim::LAMBOptions(0.1).eps(0));
  zero.sum().backward();
  from_zero.step();
  EXPECT_DOUBLE_EQ(zero[0].item<double>(), -0.1);
}

/// What an optimizer saves, another one continues from, for every optimizer.
TEST(CoreOptimizers, EveryOptimizerContinuesFromItsState) {
  using Make = std::function<std::unique_ptr<optim::Optimizer>(Tensor)>;
  const std::vector<Make> makers = {
      [](Tensor p) { return std::make_unique<optim::SGD>(std::vector<Tensor>{p}, optim::SGDOptions(0.1).momentum(0.9)); },
      [](Tensor p) { return std::make_unique<optim::AdamW>(std::vector<Tensor>{p}, 0.1); },
      [](Tensor p) { return std::make_unique<optim::RMSprop>(std::vector<Tensor>{p}, optim::RMSpropOptions(0.1).centered().momentum(0.5)); },
      [](Tensor p) { return std::make_unique<optim::LARS>(std::vector<Tensor>{p}, 0.1); },
      [](Tensor p) { return std::make_unique<optim::LAMB>(std::vector<Tensor>{p}, 0.1); },
  };
  for (const Make& make : makers) {
    Tensor p = parameter(1), q = parameter(1);
    const auto first = make(p), second = make(q);
    three_steps(p, *first);
    {
      const hvd::NoGradGuard no_grad;
      q.copy_(p);
    }
    second->load_state(first->state());
    EXPECT_EQ(three_steps(p, *first), three_steps(q, *second));
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

TEST(CoreOptimizers, FurtherSchedulesFollowTheirFormulas) {
  Tensor p = parameter(1);
  optim::SGD a({p}, 1.0), b({p}, 1.0), c({p}, 2.0);
  optim::MultiStepLR milestones(a, {2, 3}, 0.5);
  optim::PolynomialLR polynomial(b, 4, 2);
  optim::LambdaLR lambda(c, [](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); });
  EXPECT_DOUBLE_EQ(lambda.last_lr(), 2);
  const double steps[] = {1, 0.5, 0.25, 0.25, 0.25};
  for (int i = 0; i < 5; ++i) {
    milestones.step();
    polynomial.step();
    lambda.step();
    EXPECT_DOUBLE_EQ(milestones.last_lr(), steps[i]);
    EXPECT_DOUBLE_EQ(polynomial.last_lr(), i < 4 ? std::pow(1 - (i + 1) / 4.0, 2) : 0);
    EXPECT_DOUBLE_EQ(lambda.last_lr(), 2.0 / (2 + i));
  }
  EXPECT_THROW(optim::MultiStepLR(a, {3, 2}), hvd::Error);
}

TEST(CoreOptimizers, OneCycleRisesAndFalls) {
  Tensor p = parameter(1);
  optim::SGD optimizer({p}, 7.0);
  optim::OneCycleLR cycle(optimizer, 1.0, 10, optim::OneCycleLROptions().pct_start(0.4).div_factor(10).final_div_factor(100));
  std::vector<double> rates = {cycle.last_lr()};
  for (int i = 0; i < 12; ++i) {
    cycle.step();
    rates.push_back(cycle.last_lr());
  }
  EXPECT_DOUBLE_EQ(rates[0], 0.1);
  EXPECT_NEAR(rates[1], 1 + (0.1 - 1) / 2 * (1 + std::cos(M_PI / 3)), 1e-15);
  EXPECT_DOUBLE_EQ(rates[3], 1);
  EXPECT_NEAR(rates[6], 0.5 * (1 + 0.001), 1e-15);
  EXPECT_NEAR(rates[9], 0.001, 1e-15);
  EXPECT_NEAR(rates[12], 0.001, 1e-15);
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

/// Updates of tensors of all kinds of sizes: every device, in float32 and float64, against the reference in float64.
TEST(CoreOptimizers, UpdatesAgreeOnEveryDevice) {
  const core_tests::Defaults defaults;
  using Parameters = std::vector<Tensor>;
  using Make = std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)>;
  const std::vector<std::pair<std::string, Make>> makers = {
      {"SGD", [](const Parameters& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01)); }},
      {"SGD, plain", [](const Parameters& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1)); }},
      {"Adam", [](const Parameters& p) { return std::make_unique<optim::Adam>(p, optim::AdamOptions(0.01).weight_decay(0.01)); }},
      {"AdamW", [](const Parameters& p) { return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.01).weight_decay(0.1)); }},
      {"RMSprop", [](const Parameters& p) { return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions(0.01).momentum(0.9).centered(true).weight_decay(0.01)); }},
      {"LARS", [](const Parameters& p) { return std::make_unique<optim::LARS>(p, optim::LARSOptions(0.1).momentum(0.9).weight_decay(0.01)); }},
      {"LAMB", [](const Parameters& p) { return std::make_unique<optim::LAMB>(p, optim::LAMBOptions(0.01).weight_decay(0.01)); }},
  };
  for (const auto& [name, make] : makers) {
    const auto updated = [&, &make = make](hvd::Device device, hvd::Dtype dtype) {
      core_tests::Dice d(7);
      hvd::manual_seed(23);
      const auto drawn = [&](const std::vector<int64_t>& shape) {
        return hvd::empty(shape, hvd::TensorOptions(hvd::kFloat32).device(hvd::kCPU)).uniform_(0.5, 1).to(device, dtype);
      };
      Parameters parameters;
      for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1}, {d(1, 3), 2 * d(1, 9) + 1}, {2 * d(100, 300) + 1}, {}, {0, 3}})
        parameters.push_back(drawn(shape).requires_grad_());
      const auto optimizer = make(parameters);
      for (int step = 0; step < 4; ++step) {
        for (const Tensor& p : parameters) p.mutable_grad() = drawn(p.sizes()) * (step % 2 ? -0.25 : 1.0);
        optimizer->step();
      }
      return parameters;
    };
    const Parameters reference = updated(hvd::kCPU, hvd::kFloat64);
    for (hvd::Device device : hvd::available_devices())
      for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64}) {
        const Parameters found = updated(device, dtype);
        for (size_t i = 0; i < found.size(); ++i)
          EXPECT_LT(core_tests::difference(found[i], reference[i]), dtype == hvd::kFloat32 ? 5e-6 : 1e-13)
              << name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype) << " parameter " << i;
      }
  }
}

}  // namespace
}  // namespace core_optimizers_test
