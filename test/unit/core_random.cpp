// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: the published values of Philox, streams, masks that do not depend on slices.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

namespace core_random_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace F = hvd::nn::functional;

// Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(CoreRandom, PhiloxGivesThePublishedWords) {
  const hvd::PhiloxBlock zero = hvd::philox(0, 0, 0);
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
  const hvd::PhiloxBlock ones = hvd::philox(~0ull, ~0ull, ~0ull);
  EXPECT_EQ(ones.word[0], 0x408f276du);
  EXPECT_EQ(ones.word[1], 0x41c83b0eu);
  EXPECT_EQ(ones.word[2], 0xa20bc7c6u);
  EXPECT_EQ(ones.word[3], 0x6d5451fdu);
  const hvd::PhiloxBlock pi = hvd::philox(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0x85a308d3243f6a88ull);
  EXPECT_EQ(pi.word[0], 0xd16cfe09u);
  EXPECT_EQ(pi.word[1], 0x94fdccebu);
  EXPECT_EQ(pi.word[2], 0x5001e420u);
  EXPECT_EQ(pi.word[3], 0x24126ea1u);
}

TEST(CoreRandom, SameSeedSameBits) {
  const Defaults defaults;
  hvd::manual_seed(3);
  const Tensor a = hvd::randn({7}), b = hvd::rand({5});
  hvd::manual_seed(3);
  EXPECT_TRUE(hvd::equal(a, hvd::randn({7})));
  EXPECT_TRUE(hvd::equal(b, hvd::rand({5})));
  EXPECT_FALSE(hvd::equal(b, hvd::rand({5})));
}

TEST(CoreRandom, StateCanBeTakenAndSetBack) {
  const Defaults defaults;
  hvd::manual_seed(3);
  hvd::rand({100});
  const hvd::Generator::State state = hvd::default_generator().state();
  EXPECT_EQ(state.counter, 1u);
  const Tensor a = hvd::randperm(20);
  hvd::default_generator().set_state(state);
  EXPECT_TRUE(hvd::equal(a, hvd::randperm(20)));
}

TEST(CoreRandom, DrawsHaveTheirDistributions) {
  const Defaults defaults;
  hvd::manual_seed(4);
  const Tensor u = hvd::rand({100000}, hvd::kFloat64), n = hvd::randn({100000}, hvd::kFloat64);
  EXPECT_NEAR(u.mean().item<double>(), 0.5, 0.005);
  EXPECT_NEAR((u - 0.5).square().mean().item<double>(), 1.0 / 12, 0.001);
  EXPECT_GE(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
  EXPECT_NEAR(n.mean().item<double>(), 0, 0.015);
  EXPECT_NEAR(n.square().mean().item<double>(), 1, 0.02);
  const Tensor i = hvd::randint(-2, 3, {50000});
  EXPECT_EQ(i.min().item<int64_t>(), -2);
  EXPECT_EQ(i.max().item<int64_t>(), 2);
  EXPECT_NEAR(i.to(hvd::kFloat64).mean().item<double>(), 0, 0.04);
  EXPECT_LT(hvd::rand({100000}).max().item<float>(), 1.0f);
  const Tensor moved = hvd::empty({100000}, hvd::kFloat64).uniform_(-2, 4), wide = hvd::empty({100000}, hvd::kFloat64).normal_(3, 2);
  EXPECT_NEAR(moved.mean().item<double>(), 1, 0.03);
  EXPECT_GE(moved.min().item<double>(), -2);
  EXPECT_LT(moved.max().item<double>(), 4);
  EXPECT_NEAR(wide.mean().item<double>(), 3, 0.03);
  EXPECT_NEAR((wide - 3).square().mean().item<double>(), 4, 0.08);
}

TEST(CoreRandom, PermutationHoldsEveryNumberOnce) {
  const Tensor p = hvd::randperm(50);
  std::vector<int> seen(50);
  for (int64_t i = 0; i < 50; ++i) ++seen[p[i].item<int64_t>()];
  EXPECT_EQ(seen, std::vector<int>(50, 1));
  EXPECT_FALSE(hvd::equal(p, hvd::arange(50)));
}

TEST(CoreRandom, DropoutKeepsTheShareAndScales) {
  const Defaults defaults;
  hvd::manual_seed(8);
  const Tensor x = hvd::ones({200, 100}), y = F::dropout(x, 0.3, true);
  EXPECT_NEAR(y.ne(0).sum().item<double>() / 20000, 0.7, 0.015);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-6);
  EXPECT_TRUE(hvd::equal(F::dropout(x, 0.3, false), x));
  EXPECT_DOUBLE_EQ(F::dropout(x, 1.0, true).abs().max().item<double>(), 0);
  EXPECT_THROW(F::dropout(x, 1.5, true), hvd::Error);
}

/// What dropout makes of rows [first, first + rows) of `whole` on a rank that has that slice.
Tensor on_slice(const Tensor& whole, int64_t first, int64_t rows, bool filler, uint64_t seed) {
  hvd::manual_seed(seed);
  const hvd::Slice slice{whole.size(0), first, filler ? 0 : rows, filler};
  hvd::context().current_slice = &slice;
  const Tensor out = F::dropout(whole.narrow(0, first, rows), 0.5, true);
  hvd::context().current_slice = nullptr;
  return out;
}

TEST(CoreRandom, MasksDoNotDependOnTheSlices) {
  const Defaults defaults;
  const Tensor x = hvd::ones({7, 5, 3});
  hvd::manual_seed(21);
  const Tensor whole = F::dropout(x, 0.5, true);
  EXPECT_TRUE(hvd::equal(hvd::cat({on_slice(x, 0, 2, false, 21), on_slice(x, 2, 1, false, 21), on_slice(x, 3, 4, false, 21)}), whole));
  EXPECT_TRUE(hvd::equal(on_slice(x, 4, 1, true, 21), whole.narrow(0, 4, 1)));
  EXPECT_EQ(hvd::default_generator().state().counter, 1u);
}

TEST(CoreRandom, MasksOfSeveralRowsPerSampleFollowTheSample) {
  const Defaults defaults;
  const Tensor x = hvd::ones({6, 4});  // three samples of two rows
  hvd::manual_seed(2);
  const Tensor whole = F::dropout(x, 0.5, true);
  hvd::manual_seed(2);
  const hvd::Slice slice{3, 1, 2, false};
  hvd::context().current_slice = &slice;
  const Tensor part = F::dropout(x.narrow(0, 2, 4), 0.5, true);
  hvd::context().current_slice = nullptr;
  EXPECT_TRUE(hvd::equal(part, whole.narrow(0, 2, 4)));
}

}  // namespace
}  // namespace core_random_test
