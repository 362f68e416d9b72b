// SPDX-License-Identifier: Apache-2.0

// Numbers, decisions and outputs that speak of the whole batch, by ranks that are threads.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/output.hpp>
#include <hvd/dist/testing.hpp>

namespace dist_numbers_test {
namespace {

using hvd::testing::spawn;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Rows 0, 1, 2, ... of a global batch, this rank's share of them.
std::vector<double> my_rows(std::int64_t global_rows) {
  std::vector<double> all(static_cast<std::size_t>(global_rows));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
  return hvd::shard(all);
}

class NumberRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, NumberRanks, ::testing::Values(1, 2, 3, 4, 7));

TEST_P(NumberRanks, UnevenSlicesGiveTheNumbersOfTheWholeBatch) {
  const int n = GetParam();
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, std::int64_t{64}}) {
    spawn(n, [&] {
      hvd::StepScope step;
      const std::vector<double> mine = my_rows(rows);
      const bool filler = hvd::current_slice() && hvd::current_slice()->filler;
      double sum = 0, squares = 0;
      std::int64_t count = 0;
      for (const double x : mine) {
        sum += x;
        squares += x * x;
        ++count;
      }
      const double total = static_cast<double>(rows * (rows - 1)) / 2;
      // What a filler would bring must not matter, so make it as bad as it can be.
      const double mean = filler ? kNan : sum / static_cast<double>(mine.size());
      EXPECT_NEAR(hvd::batch_mean(mean), total / static_cast<double>(rows), 1e-12);
      EXPECT_EQ(hvd::batch_sum(filler ? kNan : sum), total);
      EXPECT_EQ(hvd::batch_sum(count), rows);
      EXPECT_EQ(hvd::batch_max(filler ? 1e300 : mine.back()), static_cast<double>(rows - 1));
      EXPECT_EQ(hvd::batch_min(filler ? -1e300 : mine.front()), 0.0);
      EXPECT_EQ(hvd::batch_max(filler ? 1 << 30 : static_cast<int>(mine.back())), static_cast<int>(rows - 1));
      EXPECT_EQ(hvd::global(static_cast<int>(mine.size())), static_cast<int>(rows));
      EXPECT_EQ(hvd::global(mine.size() * 3), static_cast<std::size_t>(rows * 3));
      EXPECT_EQ(hvd::local_batch_size(rows), static_cast<std::int64_t>(mine.size()));
      const std::vector<double> all = hvd::gather(mine);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(rows));
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i));
    });
  }
}

TEST_P(NumberRanks, ExtentsAreComparedAmongTheRanksThatHaveRows) {
  const int n = GetParam();
  spawn(n, [&] {
    hvd::StepScope step;
    const std::vector<double> mine = my_rows(2);
    const bool filler = hvd::current_slice() && hvd::current_slice()->filler;
    EXPECT_EQ(hvd::batch_common(filler ? 99 : 7), 7);
    EXPECT_EQ(hvd::batch_common(filler ? std::size_t{1} : std::size_t{12}), std::size_t{12});
  });
  if (n == 1) return;
  std::string text;
  try {
    spawn(n, [&] {
      hvd::StepScope step;
      const std::vector<double> mine = my_rows(2);
      const bool filler = hvd::current_slice() && hvd::current_slice()->filler;
      hvd::batch_common(filler ? 99 : mine.front() == 0 ? 4 : 9);  // the second row is another rank's
    });
  } catch (const std::exception& e) {
    text = e.what();
  }
  EXPECT_NE(text.find("this extent is 4 on one rank and 9 on another"), std::string::npos) << text;
  EXPECT_NE(text.find("dist_numbers.cpp:"), std::string::npos) << text;
}

TEST_P(NumberRanks, CountedMeansAreWeightedByTheirCounts) {
  const int n = GetParam();
  spawn(n, [&] {
    hvd::StepScope step;
    const std::vector<double> mine = my_rows(11);  // every third row counts
    double sum = 0;
    std::int64_t counted = 0;
    for (const double x : mine) {
      if (static_cast<int>(x) % 3) continue;
      sum += x;
      ++counted;
    }
    const double mean = sum / static_cast<double>(counted);  // 0/0 on ranks without counted rows
    EXPECT_NEAR(hvd::batch_count_mean(mean, counted), (0 + 3 + 6 + 9) / 4.0, 1e-12);
    const hvd::Tensor t = hvd::tensor(mean, hvd::kFloat64), c = hvd::tensor(hvd::Scalar(counted));
    EXPECT_NEAR(hvd::batch_count_mean(t, c).item<double>(), 4.5, 1e-12);
    EXPECT_TRUE(std::isnan(hvd::batch_count_mean(kNan, 0)));  // as 0/0 in the sequential program
  });
}

TEST_P(NumberRanks, TensorsOfASlice) {
  const int n = GetParam();
  spawn(n, [&] {
    hvd::StepScope step;
    const hvd::Tensor whole = hvd::arange(0, 10).to(hvd::kFloat64).view({5, 2});
    const hvd::Tensor mine = hvd::shard(whole);
    EXPECT_NEAR(hvd::batch_mean(mine.mean()).item<double>(), 4.5, 1e-12);
    const bool filler = hvd::current_slice() && hvd::current_slice()->filler;
    const hvd::Tensor sums = hvd::batch_sum(filler ? hvd::full({2}, kNan, hvd::kFloat64) : mine.sum(0));
    EXPECT_EQ(sums[0].item<double>(), 20);
    EXPECT_EQ(sums[1].item<double>(), 25);
    EXPECT_EQ(hvd::batch_max(mine.max()).item<double>(), 9);
    EXPECT_EQ(hvd::batch_min(mine.min()).item<double>(), 0);
    const hvd::Tensor odd = mine.to(hvd::kInt64).sum();
    EXPECT_EQ(hvd::batch_sum(odd).item<std::int64_t>(), 45);
    EXPECT_EQ(hvd::batch_sum(odd).dtype(), hvd::kInt64);
    EXPECT_TRUE(hvd::equal(hvd::gather(mine), whole));
  });
}

// A number of the whole batch that depends on parameters can be shown, and no gradient comes back through it.
TEST(Numbers, ACombinedNumberHasNoGradient) {
  spawn(2, [] {
    const hvd::Tensor p = hvd::ones({2}, hvd::kFloat64).requires_grad_(true);
    hvd::StepScope step;
    const hvd::Tensor x = hvd::shard(hvd::arange(0, 8).to(hvd::kFloat64).view({4, 2}));
    const hvd::Tensor sum = (x * p).sum();
    EXPECT_EQ(hvd::batch_sum(sum).item<double>(), 28);
    for (const hvd::Tensor& whole : {hvd::batch_sum(sum), hvd::batch_mean((x * p).mean()), hvd::batch_max((x * p).max()), hvd::batch_count_mean(sum / 2.0, 2)})
      EXPECT_THROW((sum / whole).backward(), hvd::Error);
    hvd::testing::forget_failure();
    EXPECT_NO_THROW(((x * p).sum() / hvd::batch_sum(sum.detach())).backward());
  });
}

TEST_P(NumberRanks, OutsideAStepABatchNumberIsItself) {
  spawn(GetParam(), [] {
    EXPECT_EQ(hvd::batch_mean(2.5f), 2.5f);
    EXPECT_EQ(hvd::batch_sum(7), 7);
    EXPECT_EQ(hvd::global(3), 3);
    EXPECT_EQ(hvd::local_batch_size(64), 64);
    EXPECT_EQ(hvd::gather(std::vector<int>{1, 2}).size(), 2u);
  });
}

TEST_P(NumberRanks, WhatAllComputeAlikeInAStepIsNotCombined) {
  spawn(GetParam(), [&] {
    hvd::StepScope step;
    const std::int64_t rows = 10;
    const std::int64_t mine = static_cast<std::int64_t>(my_rows(rows).size());
    const hvd::Slice* const slice = hvd::current_slice();
    EXPECT_EQ(hvd::outside_step().keep(hvd::batch_sum(3.0)), 3.0);
    EXPECT_EQ(hvd::outside_step().keep(hvd::batch_mean(2.5)), 2.5);
    EXPECT_EQ(hvd::outside_step().keep(my_rows(7).size()), 7U);
    const double counted = hvd::outside_step().keep(hvd::counted_mean(hvd::full({}, 4.0, hvd::kFloat64), 3.0)).item<double>();
    EXPECT_EQ(counted, 4.0);
    EXPECT_EQ(hvd::current_slice(), slice) << "the step goes on";
    EXPECT_EQ(hvd::local_batch_size(rows), mine);
    EXPECT_EQ(hvd::batch_sum(slice && slice->filler ? std::int64_t{0} : mine), rows);
  });
}

// A loss that is a quotient of a sum and the root of a mean: each rank's part of its gradient, weighted as that of a mean, adds up to that of the whole batch.
TEST_P(NumberRanks, GradientsFlowThroughMeansAndSums) {
  for (const std::int64_t rows : {4, 11}) {
    const hvd::Tensor all = hvd::arange(static_cast<double>(rows), hvd::kFloat64) + 1;
    const auto loss_of = [](const hvd::Tensor& x, const hvd::Tensor& p, bool whole) {
      const hvd::Tensor sum = (x * x * p).sum(), mean = (x * p).mean();
      return whole ? hvd::batch_sum_with_grad(sum) / hvd::sqrt(hvd::batch_mean_with_grad(mean)) : sum / hvd::sqrt(mean);
    };
    hvd::Tensor alone = hvd::full({1}, 1.5, hvd::kFloat64).requires_grad_(true);
    const hvd::Tensor expected = loss_of(all, alone, false);
    expected.backward();
    const double value = expected.item<double>(), slope = alone.grad().item<double>();
    spawn(GetParam(), [&] {
      hvd::Tensor p = hvd::full({1}, 1.5, hvd::kFloat64).requires_grad_(true);
      hvd::StepScope step;
      const hvd::Tensor loss = loss_of(hvd::shard(all), p, true);
      EXPECT_NEAR(loss.item<double>(), value, 1e-12 * value);
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      double gradient = p.grad().item<double>();
      hvd::all_reduce_sum(gradient);
      EXPECT_NEAR(gradient, slope, 1e-12 * std::abs(slope)) << rows << " rows";
    });
  }
}

// Statistics of the whole batch that the samples of each rank meet: what comes back to them from the samples of all ranks, also from ranks with a filler.
TEST_P(NumberRanks, GradientsFlowToTheSamplesBehindANumberOfTheWholeBatch) {
  for (const std::int64_t rows : {4, 11}) {
    const hvd::Tensor all = (hvd::arange(static_cast<double>(3 * rows), hvd::kFloat64) / 9.0).tanh().view({rows, 3});
    const auto loss_of = [](const hvd::Tensor& x, const hvd::Tensor& p, bool whole) {
      const hvd::Tensor h = (x * p).exp(), mean = h.mean(0), everybody = whole ? hvd::gather(h) : h;
      return ((h - (whole ? hvd::batch_mean(mean) : mean)) / (everybody.square().mean(0) + 0.1)).tanh().square().mean();
    };
    hvd::Tensor alone = hvd::full({3}, 0.3, hvd::kFloat64).requires_grad_(true);
    loss_of(all, alone, false).backward();
    const hvd::Tensor expected = alone.grad().clone();
    spawn(GetParam(), [&] {
      hvd::Tensor p = hvd::full({3}, 0.3, hvd::kFloat64).requires_grad_(true);
      hvd::StepScope step;
      hvd::weighted(loss_of(hvd::shard(all), p, true), hvd::LossKind::mean).backward();
      hvd::Tensor gradient = p.grad().clone();
      hvd::all_reduce_sum(gradient);
      EXPECT_LT((gradient - expected).abs().max().item<double>(), 1e-12) << rows << " rows";
    });
  }
}

TEST(Numbers, OfASumOverSamplesTheGradientOfAWholeNumberIsNotKnown) {
  spawn(2, [] {
    const hvd::Tensor p = hvd::ones({2}, hvd::kFloat64).requires_grad_(true);
    hvd::StepScope step;
    const hvd::Tensor x = hvd::shard(hvd::arange(0, 8).to(hvd::kFloat64).view({4, 2}));
    const hvd::Tensor loss = (x * p - hvd::batch_mean((x * p).mean(0))).square().sum();
    std::string text;
    try {
      hvd::weighted(loss, hvd::LossKind::sum).backward();
    } catch (const hvd::Error& e) {
      text = e.what();
    }
    EXPECT_NE(text.find("the loss is a sum over samples"), std::string::npos) << text;
    hvd::testing::forget_failure();
  });
}

// Random numbers of a look at whole data are those that all ranks share; those of the step go on as if it had not been.
TEST_P(NumberRanks, DrawsOutsideTheStepAreAlike) {
  spawn(GetParam(), [&] {
    hvd::StepScope step;
    my_rows(16);
    const double drawn = hvd::outside_step().keep(hvd::randn({1}, hvd::kFloat64)).item<double>();
    EXPECT_EQ(hvd::batch_max(drawn), hvd::batch_min(drawn));
  });
}

TEST_P(NumberRanks, SumsOverRanks) {
  const int n = GetParam();
  spawn(n, [&] {
    std::int64_t correct = std::int64_t{1} << 53;
    double loss = 0.5;
    hvd::Tensor per_class = hvd::full({3}, hvd::rank(), hvd::kFloat64), counts = hvd::ones({2}, hvd::kInt64);
    const std::int64_t& first = hvd::all_reduce_sum(++correct, loss, per_class, counts);
    EXPECT_EQ(correct, n * ((std::int64_t{1} << 53) + 1));  // more than a double holds
    EXPECT_EQ(&first, &correct);
    EXPECT_EQ(loss, 0.5 * n);
    EXPECT_EQ(per_class[2].item<double>(), n * (n - 1) / 2);
    EXPECT_EQ(counts[0].item<std::int64_t>(), n);
  });
}

TEST_P(NumberRanks, TheRootDecides) {
  spawn(GetParam(), [] {
    EXPECT_TRUE(hvd::agree(hvd::rank() == 0));
    EXPECT_FALSE(hvd::agree(hvd::rank() != 0));
    EXPECT_EQ(hvd::shared_seed(1234u + static_cast<unsigned>(hvd::rank())), 1234u);
    int calls = 0;
    EXPECT_EQ(hvd::from_root([&] { return ++calls; }), 1);
    EXPECT_EQ(calls, hvd::is_root() ? 1 : 0);
    EXPECT_EQ(hvd::from_root([] { return std::string("run-") + std::to_string(hvd::rank()); }), "run-0");
    EXPECT_EQ(hvd::from_root([] { return std::vector<std::string>{"a", "", "ccc"}; }), (std::vector<std::string>{"a", "", "ccc"}));
    EXPECT_EQ(hvd::from_root([] { return std::vector<bool>{true, false, true}; }), (std::vector<bool>{true, false, true}));
    EXPECT_TRUE(hvd::from_root([] { return hvd::rank() == 0; }));
    hvd::from_root([] {});
  });
}

TEST_P(NumberRanks, AnExceptionOfTheRootIsEverybodys) {
  spawn(GetParam(), [] {
    const auto message = [](auto&& body) -> std::string {
      try {
        body();
      } catch (const std::out_of_range& e) {
        return std::string("out_of_range ") + e.what();
      } catch (const hvd::Error& e) {
        return std::string("Error ") + e.what();
      } catch (const std::exception& e) {
        return std::string("exception ") + e.what();
      } catch (...) {
        return "unknown";
      }
      return "none";
    };
    EXPECT_EQ(message([] { hvd::from_root([]() -> int { throw std::out_of_range("row 7"); }); }), "out_of_range row 7");
    EXPECT_EQ(message([] { hvd::from_root([] { throw hvd::Error("no file"); }); }), "Error no file");
    const std::string odd = message([] { hvd::from_root([]() -> std::string { throw 5; }); });
    EXPECT_EQ(odd, hvd::is_root() ? "unknown" : "exception the root failed with an exception that is not a std::exception");
    EXPECT_TRUE(hvd::agree(true));  // still in step
  });
}

TEST_P(NumberRanks, OutputsAppearOnce) {
  std::ostringstream shown;
  int calls = 0, evaluated[7] = {};
  spawn(GetParam(), [&] {
    int& mine = evaluated[hvd::rank()];
    hvd::root_stream(shown) << "loss " << ++mine << "\n" << std::flush;
    EXPECT_TRUE(hvd::root_stream(shown).good());
    hvd::root_only([&](int) { ++calls; })(++mine);
    EXPECT_EQ(hvd::root_path("best.pt") == std::string("best.pt"), hvd::is_root());
    EXPECT_EQ(hvd::root_path(std::string("a")), hvd::is_root() ? "a" : "/dev/null");
    EXPECT_EQ(hvd::root_path(std::filesystem::path("a")), std::filesystem::path(hvd::is_root() ? "a" : "/dev/null"));
  });
  EXPECT_EQ(shown.str(), "loss 1\n");
  EXPECT_EQ(calls, 1);
  for (int r = 0; r < GetParam(); ++r) EXPECT_EQ(evaluated[r], 2);
}

TEST_P(NumberRanks, ABarrierIsPassedWhenAllHaveCome) {
  std::atomic<int> arrived{0};
  spawn(GetParam(), [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * hvd::rank()));
    ++arrived;
    hvd::barrier();
    EXPECT_EQ(arrived.load(), hvd::size());
  });
}

TEST(Numbers, NanIsAnExtremum) {
  spawn(3, [] {
    hvd::StepScope step;
    my_rows(3);
    EXPECT_TRUE(std::isnan(hvd::batch_max(hvd::rank() == 1 ? kNan : 1.0)));
    EXPECT_TRUE(std::isnan(hvd::batch_min(hvd::rank() == 2 ? kNan : 1.0)));
    EXPECT_TRUE(std::isnan(hvd::batch_sum(hvd::rank() == 0 ? kNan : 1.0)));
  });
}

TEST(Errors, CannotBeUndoneByAHandler) {
  const auto text_of = [](const std::function<void()>& body) -> std::string {
    try {
      spawn(2, body);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "none";
  };
  const auto swallowed = [] {
    hvd::StepScope step;
    if (hvd::rank() == 0) return;
    EXPECT_THROW(hvd::shard(hvd::ones({0, 2})), hvd::Error);
  };
  EXPECT_NE(text_of([&] {
              swallowed();
              double x = 1;
              hvd::all_reduce_sum(x);
            }).find("went on after an error: shard: an empty batch"), std::string::npos);
  EXPECT_NE(text_of(swallowed).find("ended after an error: shard: an empty batch"), std::string::npos);
  // The first one counts; what the program throws itself, and what fails on all ranks alike because of a file, may be handled.
  EXPECT_NE(text_of([] {
              for (const char* what : {"first", "second"}) {
                try {
                  throw hvd::dist::Failure<std::invalid_argument>(what);
                } catch (const std::invalid_argument&) {
                }
              }
            }).find("ended after an error: first"), std::string::npos);
  EXPECT_EQ(text_of([] {
              EXPECT_THROW(hvd::from_root([]() -> int { throw std::runtime_error("no such file"); }), std::runtime_error);
              try {
                throw std::runtime_error("own");
              } catch (const std::exception&) {
              }
              double x = 1;
              hvd::all_reduce_sum(x);
              EXPECT_EQ(x, 2);
            }), "none");
}

}  // namespace
}  // namespace dist_numbers_test
