// SPDX-License-Identifier: Apache-2.0
//
// The tape and the hooks that bindings build on.
#include "test/unit/core_support.hpp"

#include <hvd/autograd.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace core_autograd_test {
namespace {

using hvd::Tensor;
namespace autograd = hvd::autograd;

struct Recorder final : autograd::GradientHook {
  std::vector<double> sums;
  void gradient_ready(const Tensor& leaf) override { sums.push_back(leaf.grad().sum().item<double>()); }
};

Tensor leaf(std::vector<double> values) { return hvd::tensor(values, hvd::kFloat64).requires_grad_(); }

TEST(CoreAutograd, GradientsAddUpOverBackwards) {
  Tensor w = leaf({1, 2});
  (w * 3).sum().backward();
  (w * w).sum().backward();
  EXPECT_TRUE(hvd::equal(w.grad(), hvd::tensor({5.0, 7.0}, hvd::kFloat64)));
}

TEST(CoreAutograd, HookRunsOncePerBackwardWithTheWholeGradient) {
  Tensor w = leaf({1, 2});
  auto recorder = std::make_shared<Recorder>();
  const uint64_t id = autograd::add_gradient_hook(w, recorder);
  (w * w + w * 2).sum().backward();  // three contributions
  ASSERT_EQ(recorder->sums.size(), 1u);
  EXPECT_DOUBLE_EQ(recorder->sums[0], 10);
  w.sum().backward();
  ASSERT_EQ(recorder->sums.size(), 2u);
  EXPECT_DOUBLE_EQ(recorder->sums[1], 12);
  autograd::remove_gradient_hook(w, id);
  EXPECT_FALSE(autograd::has_gradient_hook(w, id));
  w.sum().backward();
  EXPECT_EQ(recorder->sums.size(), 2u);
}

TEST(CoreAutograd, HookRunsBeforeBackwardOfEarlierLayersEnds) {
  struct Order final : autograd::GradientHook {
    std::vector<int>* order;
    int mark;
    Order(std::vector<int>* order, int mark) : order(order), mark(mark) {}
    void gradient_ready(const Tensor&) override { order->push_back(mark); }
  };
  std::vector<int> order;
  Tensor first = leaf({1, 2}), second = leaf({3, 4});
  autograd::add_gradient_hook(first, std::make_shared<Order>(&order, 1));
  autograd::add_gradient_hook(second, std::make_shared<Order>(&order, 2));
  ((first * 2).tanh() * second).sum().backward();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST(CoreAutograd, HooksSurviveNewDataAndConversion) {
  hvd::nn::Linear layer(2, 3);
  auto recorder = std::make_shared<Recorder>();
  autograd::add_gradient_hook(layer->weight, recorder);
  layer->to(hvd::kFloat64);
  EXPECT_EQ(layer->weight.dtype(), hvd::kFloat64);
  layer->weight.set_data(hvd::ones({3, 2}, hvd::kFloat64));
  layer->forward(hvd::ones({1, 2}, hvd::kFloat64)).sum().backward();
  ASSERT_EQ(recorder->sums.size(), 1u);
  EXPECT_DOUBLE_EQ(recorder->sums[0], 6);
}

TEST(CoreAutograd, WeightScalesEveryBackwardByItself) {
  Tensor w = leaf({1, 2});
  {
    const autograd::BackwardWeight half(0.5);
    (w * 4).sum().backward();
  }
  {
    const autograd::BackwardWeight quarter(0.25);
    (w * 4).sum().backward();
  }
  (w * 4).sum().backward();
  EXPECT_TRUE(hvd::equal(w.grad(), hvd::tensor({7.0, 7.0}, hvd::kFloat64)));
}

TEST(CoreAutograd, WeightOneChangesNoBit) {
  Tensor a = leaf({0.1, 0.7}), b = leaf({0.1, 0.7});
  a.exp().sum().backward();
  const autograd::BackwardWeight one(1.0);
  b.exp().sum().backward();
  EXPECT_TRUE(hvd::equal(a.grad(), b.grad()));
}

TEST(CoreAutograd, WeightZeroSelectsZeroEvenOfNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor w = leaf({1, 2}), v = leaf({3});
  (v * 2).sum().backward();
  {
    const autograd::BackwardWeight zero(0.0);
    (w * nan).sum().backward();
    (v * nan).sum().backward();
  }
  ASSERT_TRUE(w.grad().defined());
  EXPECT_TRUE(hvd::equal(w.grad(), hvd::zeros({2}, hvd::kFloat64)));
  EXPECT_DOUBLE_EQ(v.grad().item<double>(), 2);
}

TEST(CoreAutograd, GenerationTellsWhichLeavesABackwardReached) {
  Tensor reached = leaf({1}), unused = leaf({1});
  EXPECT_EQ(autograd::backward_generation(unused), 0u);
  reached.sum().backward();
  EXPECT_EQ(autograd::backward_generation(reached), autograd::backward_generation());
  const uint64_t before = autograd::backward_generation();
  unused.sum().backward();
  EXPECT_EQ(autograd::backward_generation(), before + 1);
  EXPECT_EQ(autograd::backward_generation(reached), before);
}

TEST(CoreAutograd, GradientLivesInItsBuffer) {
  Tensor w = leaf({1, 2});
  const Tensor bucket = hvd::full({5}, 9.0, hvd::kFloat64);
  autograd::set_gradient_buffer(w, bucket.narrow(0, 1, 2));
  {
    const autograd::BackwardWeight half(0.5);
    (w * 4).sum().backward();
  }
  EXPECT_EQ(w.grad().raw_data(), bucket.narrow(0, 1, 2).raw_data());
  EXPECT_TRUE(hvd::equal(bucket, hvd::tensor({9.0, 2.0, 2.0, 9.0, 9.0}, hvd::kFloat64)));
  (w * 3).sum().backward();
  EXPECT_TRUE(hvd::equal(bucket, hvd::tensor({9.0, 5.0, 5.0, 9.0, 9.0}, hvd::kFloat64)));
  w.mutable_grad() = Tensor();
  const autograd::BackwardWeight zero(0.0);
  (w * 3).sum().backward();
  EXPECT_TRUE(hvd::equal(bucket, hvd::tensor({9.0, 0.0, 0.0, 9.0, 9.0}, hvd::kFloat64)));
}

TEST(CoreAutograd, ObserverSeesBeginAndEnd) {
  struct Observer final : autograd::BackwardObserver {
    std::string log;
    void backward_begins(const Tensor&) override { log += 'b'; }
    void backward_ends(const Tensor&) override { log += 'e'; }
  } observer;
  hvd::context().backward_observer = &observer;
  leaf({1}).sum().backward();
  hvd::context().backward_observer = nullptr;
  leaf({1}).sum().backward();
  EXPECT_EQ(observer.log, "be");
}

TEST(CoreAutograd, GradientIsNotSharedBetweenLeaves) {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  (a + b).sum().backward();
  a.grad().mul_(10);
  EXPECT_TRUE(hvd::equal(b.grad(), hvd::ones({2}, hvd::kFloat64)));
}

TEST(CoreAutograd, NoGradRecordsNothing) {
  Tensor w = leaf({1, 2});
  const hvd::NoGradGuard no_grad;
  EXPECT_FALSE((w * 2).requires_grad());
}

TEST(CoreAutograd, SecondBackwardNeedsRetainGraph) {
  Tensor w = leaf({1, 2});
  Tensor loss = (w * w).sum();
  loss.backward({}, true);
  loss.backward();
  EXPECT_TRUE(hvd::equal(w.grad(), hvd::tensor({4.0, 8.0}, hvd::kFloat64)));
  EXPECT_THROW(loss.backward(), hvd::Error);
}

TEST(CoreAutograd, SharedViewsOfAParameterMayBeUsedAgain) {
  Tensor w = leaf({1, 2});
  const Tensor flat = w.view({2, 1});
  for (int i = 0; i < 2; ++i) (flat * 3).sum().backward();
  EXPECT_TRUE(hvd::equal(w.grad(), hvd::tensor({6.0, 6.0}, hvd::kFloat64)));
}

TEST(CoreAutograd, OverwrittenValuesAreNoticed) {
  Tensor w = leaf({1, 2});
  Tensor y = w.exp();
  Tensor z = y * y;
  y.add_(1);
  EXPECT_THROW(z.sum().backward(), hvd::Error);
}

TEST(CoreAutograd, ChangesThatCannotBeFollowedAreRefused) {
  Tensor w = leaf({1, 2});
  EXPECT_THROW(w.add_(1), hvd::Error);
  Tensor y = w * 2;
  EXPECT_THROW(y[0].add_(1), hvd::Error);
  EXPECT_THROW(y.backward(), hvd::Error);                       // not one element
  const Tensor rows = hvd::ones({1, 3}).expand({2, 3});
  EXPECT_THROW(rows.add_(hvd::ones({2, 3})), hvd::Error);
  EXPECT_THROW(rows.mul_(2), hvd::Error);
  EXPECT_THROW(rows.zero_(), hvd::Error);
  EXPECT_THROW(rows.copy_(hvd::ones({2, 3})), hvd::Error);
  EXPECT_NO_THROW(hvd::ones({1, 3}).expand({1, 3}).add_(1));
  EXPECT_THROW(hvd::ones({1}).sum().backward(), hvd::Error);    // nothing to differentiate
}

TEST(CoreAutograd, LongChainsNeedNoStack) {
  Tensor w = leaf({1});
  {
    Tensor y = w;
    for (int i = 0; i < 200000; ++i) y = y + 1;
    y.sum().backward();
  }
  EXPECT_DOUBLE_EQ(w.grad().item<double>(), 1);
}

}  // namespace
}  // namespace core_autograd_test
