// SPDX-License-Identifier: Apache-2.0

// The bucketed reducer on raw buffers.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <hvd/dist/session.hpp>
#include <hvd/dist/testing.hpp>

#include "dist/rank.hpp"
#include "dist/reducer.hpp"

namespace dist_reducer_test {
namespace {

using namespace hvd::dist;
using hvd::testing::spawn;

std::vector<GradientSpec> mixed_specs() {
  return {{"conv.weight", 300, DataType::float32}, {"conv.bias", 7, DataType::float32}, {"scale", 11, DataType::float64},
          {"fc.weight", 5000, DataType::float32},  {"fc.bias", 1, DataType::float32},   {"empty", 0, DataType::float32}};
}

// The k-th element of gradient i on rank r: small integers, so that sums are exact in any order.
double element(std::size_t i, std::size_t k, int r) { return static_cast<double>((i + 1) * (k % 17) + static_cast<std::size_t>(r)); }

std::vector<char> gradient(const GradientSpec& spec, std::size_t i, int r) {
  std::vector<char> bytes(spec.count * size_of(spec.type) + 8);
  for (std::size_t k = 0; k < spec.count; ++k) {
    if (spec.type == DataType::float32) reinterpret_cast<float*>(bytes.data())[k] = static_cast<float>(element(i, k, r));
    else reinterpret_cast<double*>(bytes.data())[k] = element(i, k, r);
  }
  return bytes;
}

double at(const GradientSpec& spec, const void* data, std::size_t k) {
  return spec.type == DataType::float32 ? static_cast<const float*>(data)[k] : static_cast<const double*>(data)[k];
}

class ReducerRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ReducerRanks, ::testing::Values(2, 3, 4, 7));

TEST_P(ReducerRanks, SumsWhateverTheOrderOfArrival) {
  const int n = GetParam();
  for (const std::size_t bucket_bytes : {std::size_t{1}, std::size_t{2000}, std::size_t{1} << 20}) {
    spawn(n, [&] {
      const auto specs = mixed_specs();
      Reducer reducer(*this_rank(), specs, bucket_bytes);
      for (int step = 0; step < 5; ++step) {
        std::vector<std::vector<char>> data;
        for (std::size_t i = 0; i < specs.size(); ++i) data.push_back(gradient(specs[i], i, hvd::rank()));
        for (std::size_t k = 0; k < specs.size(); ++k) {
          const std::size_t i = (k * 5 + static_cast<std::size_t>(hvd::rank() + step)) % specs.size();  // 5 and 6 share no factor
          reducer.contribute(i, data[i].data());
        }
        reducer.finish();
        for (std::size_t i = 0; i < specs.size(); ++i) {
          ASSERT_TRUE(reducer.anywhere(i));
          for (std::size_t k = 0; k < specs[i].count; ++k)
            ASSERT_EQ(at(specs[i], reducer.sum(i), k), n * element(i, k, 0) + n * (n - 1) / 2) << specs[i].name << " " << k;
        }
        if (step == 1) reducer.reorder(*this_rank(), reducer.order());
      }
    });
  }
}

TEST_P(ReducerRanks, WhatNoRankHasStaysAway) {
  const int n = GetParam();
  spawn(n, [&] {
    const auto specs = mixed_specs();
    Reducer reducer(*this_rank(), specs, 2000);
    for (int step = 0; step < 3; ++step) {
      // Gradient 0 exists on the last rank only, 1 on all, 2 on none; 3 is a stale one, which counts but asks for nothing.
      const auto zero = gradient(specs[0], 0, 0), one = gradient(specs[1], 1, 0), three = gradient(specs[3], 3, 0);
      if (hvd::rank() == n - 1) reducer.contribute(0, zero.data());
      reducer.contribute(1, one.data());
      reducer.contribute(3, three.data(), 1.0 / n, false);
      EXPECT_TRUE(reducer.contributed(1));
      EXPECT_FALSE(reducer.contributed(2));
      reducer.finish();
      EXPECT_TRUE(reducer.anywhere(0));
      EXPECT_EQ(at(specs[0], reducer.sum(0), 5), element(0, 5, 0));
      EXPECT_TRUE(reducer.anywhere(1));
      EXPECT_FALSE(reducer.anywhere(2));
      EXPECT_FALSE(reducer.anywhere(3));
      EXPECT_NEAR(at(specs[3], reducer.sum(3), 3), element(3, 3, 0), 1e-5);
    }
  });
}

TEST(ReducerPlan, BucketsFollowTheSizeAndTheFirstIsSmall) {
  spawn(2, [] {
    std::vector<GradientSpec> specs(32, {"w", 256, DataType::float32});  // 1 KiB each
    Reducer reducer(*this_rank(), specs, 8 * 1024);
    EXPECT_EQ(reducer.buckets(), 1u + 4u);  // 1 in the first (8 KiB / 8), 8 + 8 + 8 + 7 in the others
    Reducer single(*this_rank(), specs, std::size_t{1} << 20);
    EXPECT_EQ(single.buckets(), 1u);
  });
}

std::string failure(int ranks, const std::function<void()>& body) {
  try {
    spawn(ranks, body);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no exception";
}

TEST(ReducerPlan, ADifferentPlanNamesTheTensor) {
  const std::string what = failure(3, [] {
    auto specs = mixed_specs();
    if (hvd::rank() == 2) specs[3].count = 10;
    Reducer reducer(*this_rank(), specs, 1000);
  });
  EXPECT_NE(what.find("gradient 3 is 'fc.weight' with 10 float32 elements on rank 2"), std::string::npos) << what;
  EXPECT_NE(what.find("but 'fc.weight' with 5000 float32 elements on rank 0"), std::string::npos) << what;
}

TEST(ReducerPlan, AMissingTensorIsADifference) {
  const std::string what = failure(2, [] {
    auto specs = mixed_specs();
    if (hvd::rank() == 1) specs.pop_back();
    Reducer reducer(*this_rank(), specs, 1000);
  });
  EXPECT_NE(what.find("gradient 5 is missing on rank 1, but 'empty' with 0 float32 elements on rank 0"), std::string::npos) << what;
}

TEST(ReducerPlan, TwoArrivalsInOneRoundAreAnError) {
  const std::string what = failure(2, [] {
    Reducer reducer(*this_rank(), mixed_specs(), 1000);
    const auto data = gradient(mixed_specs()[0], 0, 0);
    reducer.contribute(0, data.data());
    reducer.contribute(0, data.data());
  });
  EXPECT_NE(what.find("'conv.weight' arrives twice"), std::string::npos) << what;
}

}  // namespace
}  // namespace dist_reducer_test
