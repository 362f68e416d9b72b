// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/random.hpp>

#include <algorithm>
#include <numeric>

namespace data_samplers_test {
namespace {

using namespace data_test;
using namespace hvd::data;

std::vector<size_t> drain(Sampler& sampler, size_t request) {
  std::vector<size_t> all;
  while (auto batch = sampler.next(request)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}

TEST(DataSamplers, SequentialCounts) {
  SequentialSampler sampler(7);
  sampler.reset();
  EXPECT_EQ(*sampler.next(3), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(*sampler.next(3), (std::vector<size_t>{3, 4, 5}));
  EXPECT_EQ(*sampler.next(3), (std::vector<size_t>{6}));
  EXPECT_FALSE(sampler.next(3));
}

TEST(DataSamplers, RandomIsAPermutationAndTakesOneDraw) {
  hvd::manual_seed(5);
  RandomSampler sampler(100);
  EXPECT_EQ(hvd::default_generator().state().counter, 0u);
  sampler.reset();
  EXPECT_EQ(hvd::default_generator().state().counter, 1u);
  std::vector<size_t> first = drain(sampler, 7);
  sampler.reset();
  EXPECT_EQ(hvd::default_generator().state().counter, 2u);
  const std::vector<size_t> second = drain(sampler, 7);
  EXPECT_NE(first, second);
  hvd::manual_seed(5);
  sampler.reset();
  EXPECT_EQ(drain(sampler, 100), first);
  std::sort(first.begin(), first.end());
  std::vector<size_t> expected(100);
  std::iota(expected.begin(), expected.end(), size_t{0});
  EXPECT_EQ(first, expected);
}

TEST(DataSamplers, StateContinuesAPass) {
  hvd::manual_seed(5);
  RandomSampler sampler(10);
  sampler.reset();
  sampler.next(4);
  const auto state = sampler.state();
  const std::vector<size_t> rest = drain(sampler, 10);
  RandomSampler other(10);
  other.load_state(state);
  EXPECT_EQ(drain(other, 10), rest);
  EXPECT_EQ(rest.size(), 6u);

  SequentialSampler sequential(10), continued(10);
  sequential.next(4);
  continued.load_state(sequential.state());
  EXPECT_EQ(*continued.next(1), (std::vector<size_t>{4}));
}

TEST(DataSamplers, ForeignStatesAreRefused) {
  RandomSampler sampler(10), larger(12);
  larger.reset();
  expect_error([&] { sampler.load_state(larger.state()); }, {"RandomSampler", "12 numbers", "10 samples"});
  expect_error([&] { sampler.load_state({}); }, {"RandomSampler", "order"});
  SequentialSampler sequential(3);
  expect_error([&] { sequential.load_state({{"position", hvd::tensor(hvd::Scalar(4))}}); }, {"position 4", "3 samples"});
}

TEST(DataSamplers, EmptySetHasNoBatch) {
  RandomSampler random(0);
  random.reset();
  EXPECT_FALSE(random.next(4));
  SequentialSampler sequential(0);
  EXPECT_FALSE(sequential.next(4));
}

}  // namespace
}  // namespace data_samplers_test
