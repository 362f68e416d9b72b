// SPDX-License-Identifier: Apache-2.0

// HVD_SHARES: slices of a batch that are not equal.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>

#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_shares_test {
namespace {

using hvd::test::failure;
using hvd::testing::spawn;

using Shares = std::vector<std::int64_t>;

TEST(Shares, SlicesFollowThem) {
  for (const Shares& shares : {Shares{3, 1}, Shares{1, 5}, Shares{2, 1, 4}, Shares{1, 1000000, 1}, Shares{7, 1, 1, 2, 3}})
    spawn(static_cast<int>(shares.size()), [&] {
      hvd::dist::this_rank()->settings.shares = shares;
      std::int64_t all = 0;
      for (const std::int64_t share : shares) all += share;
      for (const std::int64_t rows : {1, 2, 3, 7, 16, 100, 1000003}) {
        std::int64_t next = 0;
        for (std::size_t r = 0; r < shares.size(); ++r) {
          const hvd::Slice slice = hvd::dist::slice_of(rows, static_cast<int>(r));
          EXPECT_EQ(slice.first_row, next);  // one after another, without a gap
          EXPECT_EQ(slice.filler, slice.rows == 0);
          EXPECT_LT(std::abs(static_cast<double>(slice.rows) - static_cast<double>(rows * shares[r]) / static_cast<double>(all)), 1) << rows;
          next += slice.rows;
        }
        EXPECT_EQ(next, rows);
      }
    });
}

TEST(Shares, EqualOnesAreNone) {
  spawn(3, [] {
    for (const std::int64_t rows : {1, 2, 3, 7, 16, 100})
      for (int r = 0; r < 3; ++r) {
        hvd::dist::this_rank()->settings.shares = {};
        const hvd::Slice equal = hvd::dist::slice_of(rows, r);
        hvd::dist::this_rank()->settings.shares = {4, 4, 4};
        const hvd::Slice slice = hvd::dist::slice_of(rows, r);
        EXPECT_TRUE(slice.first_row == equal.first_row && slice.rows == equal.rows && slice.filler == equal.filler);
      }
  });
  spawn(1, [] {  // one rank is the sequential program
    hvd::dist::this_rank()->settings.shares = {3, 1};
    EXPECT_EQ(hvd::dist::slice_of(8, 0).rows, 8);
  });
}

hvd::dist::Settings settings_of(const char* shares, const char* sync = "") {
  setenv("HVD_SHARES", shares, 1);
  setenv("HVD_SYNC", sync, 1);
  hvd::dist::Settings settings = hvd::dist::read_settings({});
  unsetenv("HVD_SHARES");
  unsetenv("HVD_SYNC");
  return settings;
}

TEST(Shares, AreReadAndRefused) {
  EXPECT_EQ(settings_of("3,1,20").shares, (Shares{3, 1, 20}));
  EXPECT_EQ(settings_of("3,1").error, "");
  EXPECT_NE(settings_of("3,1").summary(), settings_of("1,3").summary());  // ranks notice that they have been told different ones
  EXPECT_EQ(settings_of("").summary().find("shares"), std::string::npos);
  EXPECT_EQ(settings_of("3,0").misfit(2), "");  // one message is enough
  for (const char* bad : {"3,", ",1", "3,0", "3,-1", "3;1", "1.5,1", "1000001,1", "3, 1", "a"})
    EXPECT_NE(settings_of(bad).error.find(std::string("HVD_SHARES='") + bad + "' is not understood: a share from 1 to 1000000"), std::string::npos) << bad;
  EXPECT_NE(settings_of("3,1", "parameter-server").error.find("shares batches out equally"), std::string::npos);
  EXPECT_EQ(settings_of("3,1", "periodic:4").error, "");
  EXPECT_EQ(settings_of("3,1").misfit(3), "hvd: HVD_SHARES='3,1' has 2 shares for 3 ranks\n");
  EXPECT_EQ(settings_of("3,1").misfit(2), "");
  EXPECT_EQ(settings_of("").misfit(3), "");
}

// A batch of more rows than ranks may leave one without.
TEST(Shares, PlainBatchNormIsRefusedWhereARankHasNoRow) {
  const auto told = [](std::int64_t rows) {
    return failure(2, [=] {
      hvd::dist::this_rank()->settings.shares = {1, 30};
      hvd::nn::Sequential model(hvd::nn::BatchNorm2d(3), hvd::nn::ReLU());
      hvd::optim::SGD opt(model->parameters(), hvd::optim::SGDOptions(0.1));
      hvd::broadcast(model, opt);
      const hvd::StepScope scope;
      const hvd::Tensor x = hvd::arange(rows * 12).to(hvd::kFloat32).reshape({rows, 3, 2, 2});
      hvd::weighted(model->forward(hvd::shard(x)).mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
    });
  };
  EXPECT_NE(told(8).find("HVD4001: a batch of 8 samples leaves some of 2 ranks without any"), std::string::npos) << told(8);
  EXPECT_EQ(told(62), "no exception");
}

}  // namespace
}  // namespace dist_shares_test
