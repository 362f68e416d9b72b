// SPDX-License-Identifier: Apache-2.0

// The progress board as ranks use it: comparing what another rank did while it goes on.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "dist/board.hpp"

namespace dist_board_test {
namespace {

using namespace hvd::dist;

// A board in memory that starts as zeros, as the board of a host does.
class Board {
 public:
  explicit Board(int ranks) : memory_(BoardData::bytes(ranks) / sizeof(std::uint64_t) + 1, 0) {
    data().count = data().world_size = ranks;
    for (int r = 0; r < ranks; ++r) {
      data().ranks[r].rank = r;
      data().ranks[r].pid = 1;
    }
  }
  BoardData& data() { return *reinterpret_cast<BoardData*>(memory_.data()); }
  ProgressBoard of(int rank) { return {&data(), rank}; }

 private:
  std::vector<std::uint64_t> memory_;
};

TEST(ProgressBoard, NamesTwoRanksInDifferentOperations) {
  Board board(2);
  ProgressBoard first = board.of(0), second = board.of(1);
  first.enter(kMainChannel, "barrier", {"end"}, 1);
  EXPECT_EQ(first.compare(kMainChannel), "");  // the other has not come
  second.enter(kMainChannel, "allreduce", {"loss"}, 2);
  EXPECT_EQ(second.compare(kMainChannel),
            "ranks have reached different operations: rank 1 waits in allreduce 'loss', rank 0 waits in barrier 'end'");
}

// Operations on nothing wait for nobody: a rank may be further ahead than the board remembers, and get there during a comparison.
TEST(ProgressBoard, ARankThatRunsAheadIsNoMismatch) {
  constexpr std::uint64_t kOperations = 400'000;
  Board board(2);
  std::thread ahead([&] {
    ProgressBoard mine = board.of(0);
    const ChannelSlot& other = board.data().ranks[1].channels[kMainChannel];
    for (std::uint64_t i = 1; i <= kOperations; ++i) {
      while (i > other.entered.load() + 2 * kHistory) std::this_thread::yield();
      mine.enter(kMainChannel, "reduce", {"nothing"}, i);
      mine.leave(kMainChannel);
    }
  });
  ProgressBoard mine = board.of(1);
  std::string difference;
  for (std::uint64_t i = 1; i <= kOperations; ++i) {
    mine.enter(kMainChannel, "reduce", {"nothing"}, i);
    if (difference.empty()) difference = mine.compare(kMainChannel);
    mine.leave(kMainChannel);
  }
  ahead.join();
  EXPECT_EQ(difference, "");
}

}  // namespace
}  // namespace dist_board_test
