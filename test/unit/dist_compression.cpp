// SPDX-License-Identifier: Apache-2.0

// HVD_COMPRESSION: how far compressed sums of raw gradients may be from the exact ones.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <hvd/dist/session.hpp>
#include <hvd/dist/testing.hpp>

#include "dist/compression/small_rank.hpp"
#include "dist/rank.hpp"
#include "dist/reducer.hpp"
#include "dist_support.hpp"

namespace dist_compression_test {
namespace {

using namespace hvd::dist;
using hvd::test::failure;
using hvd::testing::spawn;

CompressionRule rule(const std::string& text) {
  CompressionRule result;
  EXPECT_TRUE(read_compression(text, result)) << text;
  return result;
}

Reducer reducer_of(std::vector<GradientSpec> specs, const std::string& compression, std::size_t bucket_bytes = std::size_t{1} << 20) {
  return Reducer(*this_rank(), std::move(specs), bucket_bytes, {}, "gradients", nullptr, rule(compression));
}

// A number between -1 and 1 that depends on all of its arguments.
double noise(std::size_t tensor, std::size_t element, int rank, int step = 0) {
  std::uint64_t z = tensor * 1'000'003 + element * 7919 + static_cast<std::uint64_t>(rank) * 104'729 + static_cast<std::uint64_t>(step) * 15'485'863 + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

template <class T>
std::vector<T> noisy(std::size_t tensor, std::size_t count, int rank, int step = 0) {
  std::vector<T> values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(static_cast<T>(noise(tensor, k, rank, step)));
  return values;
}

template <class T>
std::vector<T> sum_of(const Reducer& reducer, std::size_t i) {
  const T* data = static_cast<const T*>(reducer.sum(i));
  return std::vector<T>(data, data + reducer.specs()[i].count);
}

// Every rank's bits must be those of rank 0.
template <class T>
void expect_same_on_all_ranks(const std::vector<T>& mine) {
  std::vector<T> root = mine;
  this_rank()->comm->broadcast(root.data(), root.size() * sizeof(T), DataType::uint8, 0, {"compare"});
  EXPECT_TRUE(mine.empty() || std::memcmp(root.data(), mine.data(), mine.size() * sizeof(T)) == 0);
}

TEST(CompressionRules, AreReadAndRefused) {
  CompressionRule r;
  for (const char* text : {"none", "bf16", "fp16", "powersgd:1", "powersgd:1024"}) {
    EXPECT_TRUE(read_compression(text, r)) << text;
    EXPECT_EQ(r.text(), text);
  }
  for (const char* text : {"", "fp8", "BF16", "powersgd", "powersgd:", "powersgd:0", "powersgd:-1", "powersgd:4x", "powersgd:1025", "bf16 "})
    EXPECT_FALSE(read_compression(text, r)) << text;
}

std::string setting_error(const char* compression, const char* sync = "") {
  setenv("HVD_COMPRESSION", compression, 1);
  setenv("HVD_SYNC", sync, 1);
  const Settings settings = read_settings({});
  unsetenv("HVD_COMPRESSION");
  unsetenv("HVD_SYNC");
  return settings.error;
}

TEST(CompressionRules, ABadSettingIsSaid) {
  EXPECT_EQ(setting_error("bf16"), "");
  EXPECT_EQ(setting_error("powersgd:2", "post-local:10:4"), "");
  EXPECT_EQ(setting_error("topk:3"), "hvd: HVD_COMPRESSION='topk:3' is not understood: none, bf16, fp16 or powersgd:R (matrices of rank R, from 1 to 1024)\n");
  EXPECT_NE(setting_error("bf16", "periodic:4").find("under HVD_SYNC=periodic none are sent"), std::string::npos);
  EXPECT_FALSE(read_settings({}).compression);  // unless asked for
}

class CompressedRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, CompressedRanks, ::testing::Values(2, 3, 5));

// The bound: each contribution is rounded once, and so is the sum.
template <class T>
void check_rounding(const std::string& compression, double unit, DataType type) {
  const std::vector<GradientSpec> specs = {{"a", 3000, type, 30}, {"none", 0, type}, {"b", 17, type}, {"whole", 64, type}};
  Reducer reducer = reducer_of(specs, compression, 4096);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      std::vector<T> mine = noisy<T>(i, specs[i].count, hvd::rank(), step);
      if (i == 3) for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = static_cast<T>(k % 16) * static_cast<T>(hvd::rank() + 1);
      reducer.contribute(i, mine.data());
    }
    reducer.finish();
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(reducer.anywhere(i));
      const std::vector<T> got = sum_of<T>(reducer, i);
      expect_same_on_all_ranks(got);
      for (std::size_t k = 0; k < got.size(); ++k) {
        double sum = 0, size = 0;
        for (int r = 0; r < hvd::size(); ++r) {
          const double value = static_cast<double>(static_cast<T>(noise(i, k, r, step)));
          sum += value;
          size += std::abs(value);
        }
        ASSERT_NEAR(got[k], sum, 1.01 * unit * (size + std::abs(sum)) + 1e-7) << compression << " " << specs[i].name << " " << k;
      }
    }
    const int ranks = hvd::size() * (hvd::size() + 1) / 2;
    for (std::size_t k = 0; k < 64; ++k) ASSERT_EQ(sum_of<T>(reducer, 3)[k], static_cast<T>(k % 16) * static_cast<T>(ranks));
    if (step == 1) reducer.reorder(*this_rank(), reducer.order());
  }
}

TEST_P(CompressedRanks, ShortFloatsAreOffByTheirRoundingsOnly) {
  spawn(GetParam(), [] {
    check_rounding<float>("bf16", 0x1p-8, DataType::float32);
    check_rounding<double>("bf16", 0x1p-8, DataType::float64);
    check_rounding<float>("fp16", 0x1p-11, DataType::float32);
    check_rounding<double>("fp16", 0x1p-11, DataType::float64);
  });
}

// Unused parameters, stale gradients, gradients of one rank only.
TEST_P(CompressedRanks, WhatNoRankHasStaysAway) {
  const int n = GetParam();
  for (const char* compression : {"bf16", "fp16", "powersgd:2"})
    spawn(n, [&] {
      const std::vector<GradientSpec> specs = {{"one", 400, DataType::float32, 20}, {"all", 8, DataType::float32}, {"nobody's", 400, DataType::float32, 20},
                                               {"stale", 400, DataType::float32, 20}, {"empty", 0, DataType::float32, 0}};
      Reducer reducer = reducer_of(specs, compression);
      const std::vector<float> ones(400, 1);
      for (int step = 0; step < 3; ++step) {
        if (hvd::rank() == n - 1) reducer.contribute(0, ones.data());
        reducer.contribute(1, ones.data());
        reducer.contribute(3, ones.data(), 1.0 / n, false);
        reducer.finish();
        EXPECT_TRUE(reducer.anywhere(0) && reducer.anywhere(1));
        EXPECT_FALSE(reducer.anywhere(2) || reducer.anywhere(3) || reducer.anywhere(4));
        for (const float x : sum_of<float>(reducer, 0)) ASSERT_NEAR(x, 1, 1e-5) << compression;
        for (const float x : sum_of<float>(reducer, 1)) ASSERT_EQ(x, n);
      }
    });
}

// rank-R matrices, different on every rank, whose sum has rank R too: equal left sides.
template <class T>
std::vector<T> low_rank(std::size_t rows, std::size_t columns, int small_rank, int of_rank, int step) {
  std::vector<T> m(rows * columns);
  for (int k = 0; k < small_rank; ++k)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        m[i * columns + j] += static_cast<T>(noise(static_cast<std::size_t>(k), i, -1, step) * noise(static_cast<std::size_t>(k) + 9, j, of_rank, step));
  return m;
}

template <class T>
void check_low_rank(DataType type, double tolerance) {
  constexpr std::size_t kRows = 40, kColumns = 30;
  Reducer reducer = reducer_of({{"w", kRows * kColumns, type, kRows}, {"bias", kRows, type}}, "powersgd:3");
  const std::vector<T> bias = noisy<T>(5, kRows, 0);
  for (int step = 0; step < 4; ++step) {  // of rank 1, 2, 3, and 1 again
    const int small_rank = step % 3 + 1;
    const std::vector<T> mine = low_rank<T>(kRows, kColumns, small_rank, hvd::rank(), step);
    reducer.contribute(0, mine.data());
    reducer.contribute(1, bias.data());
    reducer.finish();
    std::vector<double> sum(kRows * kColumns);
    for (int r = 0; r < hvd::size(); ++r) {
      const std::vector<T> theirs = low_rank<T>(kRows, kColumns, small_rank, r, step);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(theirs[k]);
    }
    const std::vector<T> got = sum_of<T>(reducer, 0);
    expect_same_on_all_ranks(got);
    for (std::size_t k = 0; k < sum.size(); ++k) ASSERT_NEAR(got[k], sum[k], tolerance * hvd::size()) << "step " << step << ", element " << k;
    for (std::size_t k = 0; k < kRows; ++k) ASSERT_NEAR(sum_of<T>(reducer, 1)[k], hvd::size() * bias[k], 1e-6);  // vectors as they are
  }
}

TEST_P(CompressedRanks, PowerSgdIsExactOnMatricesOfItsRank) {
  spawn(GetParam(), [] {
    check_low_rank<float>(DataType::float32, 2e-4);  // rounding, and how far the iteration stood from the directions that are new
    check_low_rank<double>(DataType::float64, 1e-12);
  });
}

// What has been sent up to now, against what was there to be sent: the difference is what is kept, which does not grow.
TEST_P(CompressedRanks, ErrorFeedbackSendsAllInTheEnd) {
  spawn(GetParam(), [] {
    constexpr std::size_t kRows = 24, kColumns = 16, kCount = kRows * kColumns;
    Reducer reducer = reducer_of({{"w", kCount, DataType::float64, kRows}}, "powersgd:2");
    const std::vector<double> mine = noisy<double>(0, kCount, hvd::rank());
    std::vector<double> each(kCount), sent(kCount);
    for (int r = 0; r < hvd::size(); ++r)
      for (std::size_t k = 0; k < kCount; ++k) each[k] += noise(0, k, r);
    const auto missing = [&](int steps) {
      double apart = 0, all = 0;
      for (std::size_t k = 0; k < kCount; ++k) {
        apart += std::pow(sent[k] - steps * each[k], 2);
        all += std::pow(steps * each[k], 2);
      }
      return std::sqrt(apart / all);
    };
    double after_first = 0, after_40 = 0;
    for (int step = 1; step <= 160; ++step) {
      reducer.contribute(0, mine.data());
      reducer.finish();
      const std::vector<double> got = sum_of<double>(reducer, 0);
      for (std::size_t k = 0; k < kCount; ++k) sent[k] += got[k];
      if (step == 1) after_first = missing(1);
      if (step == 40) after_40 = missing(40);
      if (step == 60) reducer.reorder(*this_rank(), reducer.order());  // a new plan loses nothing
    }
    EXPECT_GT(after_first, 0.5);  // two of sixteen directions
    EXPECT_LT(after_40, 0.25);
    EXPECT_LT(missing(160), after_40 / 3);
    expect_same_on_all_ranks(sent);
  });
}

TEST_P(CompressedRanks, WhatIsNotANumberDoesNotStayInPowerSgd) {
  spawn(GetParam(), [] {
    constexpr std::size_t kRows = 12, kColumns = 10, kCount = kRows * kColumns;
    Reducer reducer = reducer_of({{"w", kCount, DataType::float32, kRows}}, "powersgd:1");
    for (int step = 0; step < 4; ++step) {
      std::vector<float> mine = low_rank<float>(kRows, kColumns, 1, hvd::rank(), step);
      if (step == 1 && hvd::rank() == 1) mine[7] = std::numeric_limits<float>::infinity();
      reducer.contribute(0, mine.data());
      reducer.finish();
      for (const float x : sum_of<float>(reducer, 0)) ASSERT_EQ(std::isnan(x), step == 1) << step;
    }
  });
}

TEST(CompressedFp16, AnOverflowNamesTheTensor) {
  const auto train = [](float value, const char* compression) {
    return [=] {
      Reducer reducer = reducer_of({{"small", 4, DataType::float32}, {"fc.weight", 6, DataType::float32, 2}}, compression);
      const std::vector<float> small(4, 1), large(6, value);
      reducer.contribute(1, large.data());
      reducer.contribute(0, small.data());
      reducer.finish();
    };
  };
  const std::string what = failure(3, train(30'000, "fp16"));  // each of them fits, the sum does not
  EXPECT_NE(what.find("the gradient 'fc.weight' is infinite or beyond float16's range (65504) at element 0 of 6"), std::string::npos) << what;
  EXPECT_EQ(failure(3, train(20'000, "fp16")), "no exception");
  EXPECT_EQ(failure(3, train(3e30f, "bf16")), "no exception");
}

TEST(SmallRank, DependentVectorsBecomeZero) {
  Vectors<float> v(3, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    v[0][i] = static_cast<float>(i + 1);
    v[1][i] = -3 * static_cast<float>(i + 1);
    v[2][i] = i == 2 ? 1.0f : 0.0f;
  }
  orthonormalise(v);
  double squares[3] = {}, product = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 3; ++k) squares[k] += v[k][i] * v[k][i];
    product += v[0][i] * v[2][i];
  }
  EXPECT_NEAR(squares[0], 1, 1e-6);
  EXPECT_EQ(squares[1], 0);
  EXPECT_NEAR(squares[2], 1, 1e-6);
  EXPECT_NEAR(product, 0, 1e-7);
  orthonormalise_or_draw(v, 4);
  double drawn = 0;
  for (std::size_t i = 0; i < 5; ++i) drawn += v[1][i] * v[1][i];
  EXPECT_NEAR(drawn, 1, 1e-6);
}

}  // namespace
}  // namespace dist_compression_test
