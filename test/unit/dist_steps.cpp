// SPDX-License-Identifier: Apache-2.0

// The rows of a step: what each rank has of a batch, and of what stands beside it, by ranks that are threads.

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/testing.hpp>

namespace dist_steps_test {
namespace {

using hvd::testing::spawn;

TEST(Steps, ShardsOfAStepAgree) {
  spawn(3, [] {
    EXPECT_EQ(hvd::shard(hvd::ones({4})).size(0), 4);  // no step: all ranks do the same
    {
      hvd::StepScope step;
      EXPECT_EQ(hvd::local_batch_size(7), std::vector<int>({2, 2, 3})[static_cast<std::size_t>(hvd::rank())]);
      const auto [x, y] = hvd::shard(std::make_pair(hvd::ones({5, 2}), hvd::arange(5)));
      EXPECT_EQ(x.size(0), y.size(0));
      EXPECT_EQ(hvd::current_slice()->global_rows, 5);
      EXPECT_THROW(hvd::shard(hvd::ones({4})), hvd::Error);
      EXPECT_THROW(hvd::local_batch_size(4), hvd::Error);
      hvd::testing::forget_failure();
    }
    {
      hvd::StepScope step;  // of 2, 2 and 3 rows: seven entries are no multiple of either
      EXPECT_EQ(hvd::shard(hvd::ones({7})).size(0), hvd::rank() == 2 ? 3 : 2);
      EXPECT_THROW(hvd::gather(hvd::ones({7})), hvd::Error);
      hvd::testing::forget_failure();
    }
    EXPECT_EQ(hvd::current_slice(), nullptr);
    hvd::StepScope next;
    EXPECT_THROW(hvd::shard(hvd::ones({0, 2})), hvd::Error);
    hvd::testing::forget_failure();
    EXPECT_EQ(hvd::shard(hvd::ones({4})).size(0), hvd::rank() == 2 ? 2 : 1);
    EXPECT_EQ(hvd::whole_draw().shard(hvd::rand({4, 3})).size(0), hvd::rank() == 2 ? 2 : 1);
    EXPECT_EQ(hvd::whole_draw().keep(hvd::rand({6})).size(0), 6);
  });
}

// Samples 0, 1 are those of rank 0, samples 2, 3 those of rank 1; of a single one ranks 0 and 1 have none.
TEST(Steps, SamplesAreFoundByTheirNumber) {
  EXPECT_TRUE(hvd::has_sample(std::size_t{9}));
  EXPECT_EQ(hvd::local_row(9), 9);
  spawn(3, [] {
    EXPECT_TRUE(hvd::has_sample(9));  // no step: all samples are here
    EXPECT_EQ(hvd::local_row(9), 9);
    {
      hvd::StepScope step;
      const hvd::Tensor mine = hvd::shard(hvd::arange(7));
      for (int i = 0; i < 7; ++i) {
        const bool here = i / 2 == hvd::rank() || (i == 6 && hvd::rank() == 2);
        EXPECT_EQ(hvd::has_sample(i), here) << i;
        if (here) {
          EXPECT_EQ(mine[hvd::local_row(i)].item<std::int64_t>(), i);
        }
      }
      EXPECT_THROW(hvd::has_sample(7), hvd::Error);
      hvd::testing::forget_failure();
      EXPECT_THROW(hvd::has_sample(-1), hvd::Error);
      hvd::testing::forget_failure();
      EXPECT_THROW(hvd::local_row(hvd::rank() == 0 ? 2 : 0), hvd::Error);
      hvd::testing::forget_failure();
    }
    hvd::StepScope step;
    hvd::shard(hvd::arange(1));
    EXPECT_EQ(hvd::has_sample(0), hvd::rank() == 2);  // the others have it as a filler
  });
}

// 7 rows on 3 ranks are 2, 2 and 3; 8 of their own stay whole beside them, and means of either are those of the program.
TEST(Steps, RowsOfTheirOwnStayWholeBesideAnotherNumber) {
  spawn(3, [] {
    hvd::StepScope step;
    const hvd::Tensor batch = hvd::shard(hvd::arange(0, 7).to(hvd::kFloat64)), whole = hvd::arange(0, 8).to(hvd::kFloat64);
    EXPECT_EQ(hvd::shard(hvd::ones({14, 2}), hvd::own_rows).size(0), 2 * batch.size(0));  // two rows for each sample
    EXPECT_EQ(hvd::local_batch_size(7, hvd::own_rows), batch.size(0));
    EXPECT_DOUBLE_EQ(hvd::batch_sum(batch.sum().item<double>()), 21);
    const hvd::Tensor beside = hvd::shard(whole, hvd::own_rows);
    EXPECT_EQ(beside.size(0), 8);
    EXPECT_EQ(hvd::local_batch_size(8, hvd::own_rows), 8);
    EXPECT_EQ(hvd::whole_draw().shard(hvd::rand({8, 3}), hvd::own_rows).size(0), 8);
    EXPECT_NEAR(hvd::batch_mean(batch.mean().item<double>() - beside.mean().item<double>()), 3 - 3.5, 1e-12);
    EXPECT_EQ(hvd::global(batch.size(0)), 7);
    EXPECT_EQ(hvd::gather(batch).size(0), 7);
    EXPECT_THROW(hvd::global(beside.size(0)), hvd::Error);
    EXPECT_THROW(hvd::gather(beside), hvd::Error);
    EXPECT_THROW(hvd::batch_sum(beside.sum()), hvd::Error);
    EXPECT_THROW(hvd::batch_sum(1.0), hvd::Error);
    EXPECT_THROW(hvd::has_sample(0), hvd::Error);
    EXPECT_THROW(hvd::shard(hvd::ones({8})), hvd::Error);
    EXPECT_THROW(hvd::shard(hvd::ones({9}), hvd::own_rows), hvd::Error);  // a third number
    hvd::testing::forget_failure();
  });
}

// Three rows of their own are as many as a rank has of the batch: the rows of a tensor do not tell whose they are.
TEST(Steps, RowsThatMayBeOfEitherAreNotCounted) {
  spawn(3, [] {
    hvd::StepScope step;
    const hvd::Tensor batch = hvd::shard(hvd::ones({7}));
    EXPECT_EQ(hvd::shard(hvd::ones({3}), hvd::own_rows).size(0), 3);
    EXPECT_THROW(hvd::global(batch.size(0)), hvd::Error);
    EXPECT_THROW(hvd::gather(batch), hvd::Error);
    hvd::testing::forget_failure();
  });
}

TEST(Steps, StatesThatAreHandedOn) {
  spawn(3, [] {
    hvd::Tensor state = hvd::arange(8).view({4, 2}), layers = hvd::zeros({2, 4, 3}), row = hvd::ones({1, 2}), beside = hvd::zeros({1, 4, 2}), other = hvd::zeros({3, 5});
    auto both = std::make_tuple(hvd::zeros({2, 4, 3}), hvd::ones({2, 4, 3}));
    const hvd::Tensor whole = state;
    EXPECT_EQ(&hvd::carried(state), &state);
    EXPECT_EQ(state.size(0), 4);  // no step
    for (int round = 0; round < 2; ++round) {
      hvd::StepScope step;
      EXPECT_EQ(hvd::carried(layers, 1).size(1), round == 0 ? 4 : layers.size(1));  // the batch is not there yet
      hvd::shard(hvd::ones({4}));
      const int64_t mine = hvd::rank() == 2 ? 2 : 1;
      ASSERT_EQ(hvd::carried(state).size(0), mine);
      EXPECT_EQ(state[0][0].item<int>(), 2 * hvd::rank());
      EXPECT_EQ(hvd::carried(layers, 1).size(1), mine);
      EXPECT_EQ(std::get<1>(hvd::carried(both, 1)).size(1), mine);
      EXPECT_EQ(hvd::carried(row).size(0), 1);  // goes with every sample
      EXPECT_THROW(hvd::carried(beside), hvd::Error);
      EXPECT_THROW(hvd::carried(other), hvd::Error);
      hvd::testing::forget_failure();
    }
    state.fill_(-1);
    EXPECT_EQ(whole[0][1].item<int>(), 1);  // the rows of its own
  });
}

TEST(Steps, MoreRanksThanRowsGiveFillers) {
  spawn(4, [] {
    hvd::StepScope step;
    const hvd::Tensor mine = hvd::shard(hvd::arange(10, 12));
    int fillers = hvd::current_slice()->filler;
    EXPECT_EQ(mine.size(0), 1);
    EXPECT_EQ(hvd::all_reduce_sum(fillers), 2);
    const hvd::Tensor all = hvd::gather(mine);
    ASSERT_EQ(all.size(0), 2);
    EXPECT_EQ(all[0].item<int>(), 10);
    EXPECT_EQ(all[1].item<int>(), 11);
  });
}

}  // namespace
}  // namespace dist_steps_test
