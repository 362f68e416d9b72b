// SPDX-License-Identifier: Apache-2.0

// Collectives over raw buffers, by ranks that are threads.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <hvd/dist/failure.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/testing.hpp>

#include "dist/rank.hpp"

namespace dist_communicator_test {
namespace {

using namespace hvd::dist;
using hvd::testing::spawn;

Communicator& comm() { return *this_rank()->comm; }

class CommunicatorRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, CommunicatorRanks, ::testing::Values(1, 2, 3, 4, 7));

TEST_P(CommunicatorRanks, AllreduceIsTheSumInRankOrder) {
  const int n = GetParam();
  for (const std::size_t count : {std::size_t{1}, std::size_t{5}, std::size_t{1000}}) {
    std::vector<float> expected(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] = 0.1f * static_cast<float>(i + 1);
      for (int r = 1; r < n; ++r) expected[i] += 0.1f * static_cast<float>(i + 1) / static_cast<float>(r * r + 1);
    }
    spawn(n, [&] {
      const int r = hvd::rank();
      std::vector<float> data(count);
      for (std::size_t i = 0; i < count; ++i) data[i] = 0.1f * static_cast<float>(i + 1) / static_cast<float>(r * r + 1);
      comm().allreduce(data.data(), count, DataType::float32, ReduceOp::sum, {"test"});
      EXPECT_EQ(data, expected);  // bitwise
    });
  }
}

TEST_P(CommunicatorRanks, IntegersAreExact) {
  const int n = GetParam();
  spawn(n, [&] {
    std::int64_t big = (std::int64_t{1} << 60) / n + hvd::rank();
    comm().allreduce(&big, 1, DataType::int64, ReduceOp::sum, {"test"});
    EXPECT_EQ(big, (std::int64_t{1} << 60) / n * n + n * (n - 1) / 2);
    std::uint64_t least = 100 - static_cast<std::uint64_t>(hvd::rank());
    comm().allreduce(&least, 1, DataType::uint64, ReduceOp::min, {"test"});
    EXPECT_EQ(least, 101u - static_cast<std::uint64_t>(n));
    std::int32_t most = hvd::rank();
    comm().allreduce(&most, 1, DataType::int32, ReduceOp::max, {"test"});
    EXPECT_EQ(most, n - 1);
  });
}

TEST_P(CommunicatorRanks, EveryRootBroadcastsAndReduces) {
  const int n = GetParam();
  spawn(n, [&] {
    for (int root = 0; root < n; ++root) {
      double value[2] = {10.0 * hvd::rank(), 1};
      comm().broadcast(value, 2, DataType::float64, root, {"test"});
      EXPECT_EQ(value[0], 10.0 * root);
      double sum = hvd::rank() + 1;
      comm().reduce(&sum, 1, DataType::float64, ReduceOp::sum, root, {"test"});
      if (hvd::rank() == root) {
        EXPECT_EQ(sum, n * (n + 1) / 2);
      }
    }
  });
}

TEST_P(CommunicatorRanks, GathersUnevenParts) {
  const int n = GetParam();
  spawn(n, [&] {
    std::vector<std::size_t> counts;
    std::vector<std::int32_t> expected;
    for (int r = 0; r < n; ++r) {
      counts.push_back(static_cast<std::size_t>(r));  // none from rank 0
      for (int i = 0; i < r; ++i) expected.push_back(100 * r + i);
    }
    std::vector<std::int32_t> mine(static_cast<std::size_t>(hvd::rank()));
    std::iota(mine.begin(), mine.end(), 100 * hvd::rank());
    std::vector<std::int32_t> all(expected.size());
    comm().allgatherv(mine.data(), all.data(), counts, DataType::int32, {"test"});
    EXPECT_EQ(all, expected);
    std::vector<double> block(static_cast<std::size_t>(n));
    std::iota(block.begin(), block.end(), hvd::rank());
    double part = 0;
    comm().reduce_scatter(block.data(), &part, 1, DataType::float64, ReduceOp::sum, {"test"});
    EXPECT_EQ(part, n * hvd::rank() + n * (n - 1) / 2);
  });
}

TEST_P(CommunicatorRanks, MessagesGoRoundARing) {
  const int n = GetParam();
  spawn(n, [&] {
    std::int64_t token = hvd::rank(), received = -1;
    EXPECT_THROW(comm().send(&token, 1, DataType::int64, n, 5, {"ring"}), std::runtime_error);
    EXPECT_THROW(comm().recv(&token, 1, DataType::int64, hvd::rank(), 5, {"ring"}), std::runtime_error);
    hvd::testing::forget_failure();
    if (n == 1) return;
    comm().send(&token, 1, DataType::int64, (hvd::rank() + 1) % n, 5, {"ring"});
    comm().recv(&received, 1, DataType::int64, (hvd::rank() + n - 1) % n, 5, {"ring"});
    EXPECT_EQ(received, (hvd::rank() + n - 1) % n);
  });
}

TEST_P(CommunicatorRanks, DuplicatesDoNotMix) {
  const int n = GetParam();
  spawn(n, [&] {
    auto other = comm().duplicate(kReducerChannel);
    // One order on even ranks, the other on odd ones would hang or mix with a single communicator; here a thread does one.
    double a = 1, b = 10;
    std::thread second([&] { other->allreduce(&b, 1, DataType::float64, ReduceOp::sum, {"second"}); });
    comm().allreduce(&a, 1, DataType::float64, ReduceOp::sum, {"first"});
    second.join();
    EXPECT_EQ(a, n);
    EXPECT_EQ(b, 10 * n);
  });
}

// The message of the exception that `body` ends with.
std::string failure(int ranks, const std::function<void()>& body, double deadline = 60) {
  try {
    spawn(ranks, body, {}, deadline);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no exception";
}

void allreduce(const char* name, std::size_t count = 1) {
  std::vector<double> data(count, 1);
  comm().allreduce(data.data(), count, DataType::float64, ReduceOp::sum, {name, "train.cpp", 40});
}

TEST(Watchdog, ALateRankIsNamedAtTheDeadline) {
  const std::string what = failure(3, [] {
    allreduce("gradients");
    if (hvd::rank() != 2) return allreduce("loss");
    const double start = 0.8;
    std::this_thread::sleep_for(std::chrono::duration<double>(start));
    allreduce("loss");
  }, 0.3);
  EXPECT_NE(what.find("rank 2 has not reached allreduce 'loss' (train.cpp:40)"), std::string::npos) << what;
  EXPECT_NE(what.find("it was last in allreduce 'gradients'"), std::string::npos) << what;
  EXPECT_NE(what.find("ranks 0, 1"), std::string::npos) << what;
}

TEST(Watchdog, DeclaredLongWorkHasItsOwnLimit) {
  spawn(2, [] {
    if (hvd::is_root()) {
      hvd::LongWork work("evaluation", 30);
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      allreduce("after");
    } else {
      allreduce("after");
    }
  }, {}, 0.2);
  const std::string what = failure(2, [] {
    if (hvd::is_root()) {
      hvd::LongWork work("evaluation", 0.4);
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    }
    allreduce("after");
  }, 0.1);
  EXPECT_NE(what.find("does long work 'evaluation'"), std::string::npos) << what;
}

TEST(Watchdog, DifferentOperationsAreNamedOnBothSides) {
  const std::string what = failure(2, [] { allreduce(hvd::is_root() ? "loss" : "accuracy"); });
  EXPECT_NE(what.find("ranks have reached different operations"), std::string::npos) << what;
  EXPECT_NE(what.find("'loss'"), std::string::npos) << what;
  EXPECT_NE(what.find("'accuracy'"), std::string::npos) << what;
}

TEST(Watchdog, DifferentCountsAreADifference) {
  const std::string what = failure(3, [] { allreduce("loss", hvd::rank() == 1 ? 4 : 5); });
  EXPECT_NE(what.find("ranks have reached different operations"), std::string::npos) << what;
}

TEST(Watchdog, ARankThatReturnsEarlyDoesNotLeaveTheOthersWaiting) {
  const std::string what = failure(3, [] {
    allreduce("first");
    if (hvd::rank() == 1) return;
    allreduce("second");
  });
  EXPECT_NE(what.find("end of the session"), std::string::npos) << what;
}

TEST(Watchdog, AnExceptionOnOneRankEndsTheOthers) {
  EXPECT_THROW(spawn(4, [] {
    if (hvd::rank() == 2) throw std::out_of_range("rank 2 fails");
    allreduce("never");
  }), std::out_of_range);
}

}  // namespace
}  // namespace dist_communicator_test
