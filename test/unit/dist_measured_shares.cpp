// SPDX-License-Identifier: Apache-2.0

// HVD_SHARES=measured: slices that follow the speed of the ranks. The clock is played by what a rank sleeps; nothing here is asserted of time.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/loader_batches.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "data_support.hpp"
#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_measured_shares_test {
namespace {

using hvd::Tensor;
using hvd::dist::Shares;
using hvd::dist::ShareRule;
using hvd::dist::SpeedMeter;
using hvd::test::failure;
using hvd::testing::spawn;
namespace data = hvd::data;

hvd::dist::Rank& here() { return *hvd::dist::this_rank(); }
void rest(std::int64_t microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

TEST(MeasuredShares, FollowSpeedsSmoothly) {
  ShareRule rule;
  EXPECT_FALSE(rule.feed({0.01, 0}));  // a rank that has not worked yet
  EXPECT_FALSE(rule.feed({0.01, 0.0102}));
  EXPECT_TRUE(rule.shares().empty());
  EXPECT_TRUE(rule.feed({0.01, 0.04}));
  // Speeds of 100 and of (98.04 + 25) / 2.
  EXPECT_NEAR(static_cast<double>(rule.shares()[0]), 10000 * 100 / 161.52, 1);
  EXPECT_NEAR(static_cast<double>(rule.shares()[1]), 10000 * 61.52 / 161.52, 1);
  for (int i = 0; i < 20; ++i) rule.feed({0.01, 0.04});
  EXPECT_NEAR(static_cast<double>(rule.shares()[0]), 8000, 150);
  const Shares settled = rule.shares();
  EXPECT_FALSE(rule.feed({0.0101, 0.0401}));
  EXPECT_EQ(rule.shares(), settled);  // not worth a change
  rule.feed({0.01, NAN});
  EXPECT_EQ(rule.shares(), settled);
  ShareRule far;
  far.feed({1e-9, 1, 1, 1});
  EXPECT_EQ(far.shares()[1], std::llround(10000.0 / 64));  // the smallest
}

TEST(MeasuredShares, LeaveNoRankWithoutRows) {
  for (const Shares& shares : {Shares{9843, 157}, Shares{1, 1000000, 1}, Shares{157, 9529, 157, 157}})
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 11, 64, 1003}) {
      const auto ranks = static_cast<std::int64_t>(shares.size());
      std::int64_t next = 0;
      for (int r = 0; r < static_cast<int>(ranks); ++r) {
        const hvd::Slice slice = hvd::dist::cut_by_measured(shares, rows, r);
        EXPECT_EQ(slice.global_rows, rows);
        EXPECT_EQ(slice.first_row, next);
        EXPECT_EQ(slice.filler, slice.rows == 0);
        EXPECT_GE(slice.rows, std::min<std::int64_t>(2, rows / ranks)) << rows;
        next += slice.rows;
      }
      EXPECT_EQ(next, rows);
    }
}

// Waits for others are no work; a checkpoint in one step of several counts nothing.
TEST(MeasuredShares, AreOfARanksOwnWork) {
  const auto of = [](bool waits, std::int64_t rows) {
    SpeedMeter meter;
    meter.working(true);
    for (int i = 0; i < 3; ++i) {
      meter.add_rows(rows);
      if (waits) {
        const SpeedMeter::Waiting waiting(&meter);
        rest(60000);
      } else {
        rest(60000);
      }
      meter.complete();
    }
    return meter.take_median();
  };
  const double waited = of(true, 1), worked = of(false, 1), less = of(false, 10);
  EXPECT_GE(worked, 0.06);
  EXPECT_LT(waited, worked);
  EXPECT_GE(less, 0.006);
  EXPECT_LT(less, worked);
  SpeedMeter meter;
  EXPECT_EQ(meter.take_median(), 0);
  meter.working(true);
  meter.add_rows(1);
  meter.drop();
  meter.complete();
  EXPECT_EQ(meter.take_median(), 0);  // no rows, no step
  for (const int ms : {1, 300, 1}) {
    meter.add_rows(1);
    rest(1000 * ms);
    meter.complete();
  }
  EXPECT_LT(meter.take_median(), 0.3);
}

/// A training loop over the numbers 0 to 100 and a validation in the middle of it; `slow(pass, batch)` is the rank that sleeps for every row.
struct Trained {
  std::vector<Tensor> parameters;
  std::vector<std::vector<double>> seen;  // the samples of every step, in order
  std::vector<std::int64_t> splits;
  Shares shares;  // at the end
};

double scored(const Tensor& x) { return (x * x).sum().item<double>(); }

template <class Slow>
Trained train(std::size_t workers, Slow slow) {
  hvd::manual_seed(3);
  hvd::nn::Linear layer(hvd::nn::LinearOptions(1, 2));
  layer->weight.set_data(hvd::tensor({0.1, -0.2}, hvd::kFloat64).reshape({2, 1}));
  layer->bias.set_data(hvd::tensor({0.3, 0.05}, hvd::kFloat64));
  hvd::optim::SGD opt(layer->parameters(), hvd::optim::SGDOptions(1e-5).momentum(0.5));
  hvd::broadcast(layer, opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::RandomSampler>>(data_test::Numbers(101), data::DataLoaderOptions(12).workers(workers).prefetch(workers + 1));
  auto check = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(data_test::Numbers(7), data::DataLoaderOptions(4));
  Trained result;
  for (int pass = 0; pass < 2; ++pass) {
    std::int64_t number = 0;
    for (auto& batch : hvd::steps(loader)) {
      const hvd::Slice* slice = hvd::current_slice();
      const Tensor all = hvd::size() > 1 ? hvd::gather(batch.data) : batch.data;
      result.seen.emplace_back();
      for (std::int64_t i = 0; i < all.size(0); ++i) result.seen.back().push_back(all[i].item<double>());
      result.splits.push_back(slice ? slice->split : 0);
      if (slice) rest((hvd::rank() == slow(pass, number) ? 5000 : 200) * slice->local_rows());
      opt.zero_grad();
      const Tensor loss = (layer->forward(batch.data) - 0.1 * batch.data).pow(2).mean();
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
      if (pass == 1 && number == 7) break;  // the validation behind it, too, keeps its shares
      if (number++ != 2) continue;
      double sum = 0;  // a validation within the body: its passes go by the shares of the step
      for (auto& some : hvd::steps(check)) {
        if (slice) {
          EXPECT_EQ(hvd::current_slice()->split, slice->split);
        }
        sum += hvd::size() > 1 ? hvd::batch_sum(hvd::current_slice()->filler ? 0.0 : scored(some.data)) : scored(some.data);
      }
      EXPECT_DOUBLE_EQ(sum, 0 + 1 + 4 + 9 + 16 + 25 + 36);
    }
  }
  std::int64_t split = -1;
  for ([[maybe_unused]] auto& some : hvd::steps(check)) {
    if (hvd::size() == 1) continue;
    EXPECT_TRUE(split < 0 || split == hvd::current_slice()->split);
    split = hvd::current_slice()->split;
  }
  const hvd::dist::Rank* rank = hvd::dist::this_rank();
  if (rank && rank->measured && rank->measured->now() > 0) result.shares = *rank->measured->shares(rank->measured->now());
  for (const Tensor& p : layer->parameters()) result.parameters.push_back(p.detach().clone());
  return result;
}

double difference(const Trained& a, const Trained& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.parameters.size(); ++i)
    worst = std::max(worst, (a.parameters[i] - b.parameters[i]).abs().max().item<double>() / b.parameters[i].abs().max().item<double>());
  return worst;
}

template <class Slow>
std::vector<Trained> on_ranks(int ranks, std::int64_t every, const std::vector<std::size_t>& workers, Slow slow, bool checked = false) {
  std::vector<Trained> results(static_cast<std::size_t>(ranks));
  spawn(ranks, [&] {
    const auto r = static_cast<std::size_t>(hvd::rank());
    if (every > 0) here().measure_shares(every);
    if (checked) here().begin_check();
    results[r] = train(workers[r], slow);
  }, hvd::Policy().batch(hvd::Batch::global));
  return results;
}

// The ranks load ahead by different numbers of batches, and shares change within passes all the time: batches stay whole.
TEST(MeasuredShares, MakeUpTheSequentialRunWhateverTheyAre) {
  hvd::set_default_dtype(hvd::kFloat64);
  const auto nobody = [](int, std::int64_t) { return -1; };
  const auto in_turn = [](int pass, std::int64_t number) { return static_cast<int>((2 * pass + number / 3) % 3); };
  const Trained alone = train(0, nobody);
  const Trained equal = on_ranks(3, 0, {0, 0, 0}, nobody)[0];
  for (const std::vector<std::size_t>& workers : {std::vector<std::size_t>{0, 0, 0}, {0, 1, 3}, {1, 1, 1}}) {
    const std::vector<Trained> ranks = on_ranks(3, 1, workers, in_turn, workers[1] == 1);
    for (const Trained& rank : ranks) {
      EXPECT_EQ(rank.seen, alone.seen);
      EXPECT_EQ(rank.splits, ranks[0].splits);  // all ranks agree on the shares of each step
      EXPECT_LE(difference(rank, alone), 1e-10);
      EXPECT_LE(difference(rank, equal), 1e-10);
    }
    std::int64_t changes = 0;
    for (std::size_t i = 1; i < ranks[0].splits.size(); ++i) changes += i % 9 != 0 && ranks[0].splits[i] != ranks[0].splits[i - 1];
    EXPECT_GE(changes, 2) << "shares that never change within a pass show nothing";
  }
  hvd::set_default_dtype(hvd::kFloat32);
}

TEST(MeasuredShares, ASlowedRankGetsFewerRows) {
  for (const int slowed : {0, 1, 2}) {
    const auto ranks = on_ranks(3, 4, {0, 0, 0}, [&](int, std::int64_t) { return slowed; });
    for (const Trained& rank : ranks) {
      ASSERT_EQ(rank.shares, ranks[0].shares);
      ASSERT_EQ(rank.shares.size(), 3u);
      for (const int other : {0, 1, 2}) {
        if (other == slowed) continue;
        EXPECT_LT(rank.shares[static_cast<std::size_t>(slowed)], rank.shares[static_cast<std::size_t>(other)]);
      }
    }
  }
}

// Batches whose gradients make one step together are cut alike, and so is what is made outside of a step in its middle.
TEST(MeasuredShares, ChangeBetweenOptimizerStepsOnly) {
  spawn(2, [] {
    hvd::set_default_dtype(hvd::kFloat64);  // of this thread
    here().measure_shares(1);
    hvd::nn::Linear layer(2, 1);
    hvd::optim::SGD opt(layer->parameters(), hvd::optim::SGDOptions(1e-3));
    hvd::broadcast(layer, opt);
    const Tensor x = hvd::arange(48).to(hvd::kFloat64).reshape({24, 2});
    std::vector<std::int64_t> splits;
    for (int batch = 0; batch < 36; ++batch) {
      const hvd::StepScope scope;
      splits.push_back(scope.split());
      const std::int64_t rows = hvd::local_batch_size(std::int64_t{24});
      const Tensor mine = hvd::shard(x);
      EXPECT_EQ(mine.size(0), rows);
      EXPECT_EQ(hvd::current_slice()->split, scope.split());
      if (hvd::rank() == batch / 9 % 2) rest(1000 * rows);
      hvd::weighted(layer->forward(mine).mean(), hvd::LossKind::mean).backward();
      if (batch % 3 == 1) {  // an evaluation between the batches of a step, of whose time nothing is known then
        auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(data_test::Numbers(6), data::DataLoaderOptions(4));
        for ([[maybe_unused]] auto& some : hvd::steps(loader)) EXPECT_EQ(hvd::current_slice()->split, scope.split());
      }
      if (batch % 3 != 2) continue;
      hvd::reduce_gradients(opt);
      opt.step();
      opt.zero_grad();
      const std::int64_t before = here().measured->now();
      EXPECT_EQ(hvd::outside_step().keep([&] {
        auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(data_test::Numbers(6), data::DataLoaderOptions(4));
        for ([[maybe_unused]] auto& some : hvd::steps(loader)) EXPECT_EQ(hvd::current_slice()->split, before);
        return here().measured->now();
      }()), before);
    }
    std::int64_t changes = 0;
    for (std::size_t i = 1; i < splits.size(); ++i) {
      changes += splits[i] != splits[i - 1];
      if (i % 3 == 0) continue;
      EXPECT_EQ(splits[i], splits[i - 1]) << "within a step";
    }
    EXPECT_GE(changes, 2);
  });
}

TEST(MeasuredShares, ThatAreForgottenAreAnError) {
  EXPECT_NE(failure(2, [] {
    here().measure_shares(1);
    (void)hvd::dist::slice_of(hvd::Slice{8, 0, 4, false, 7}, 1);
  }).find("forgotten"), std::string::npos);
}

TEST(MeasuredShares, GoWithNoBatchesTakenByHand) {
  const std::string told = failure(2, [] {
    here().measure_shares(10);
    auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(data_test::Numbers(6), data::DataLoaderOptions(4));
    hvd::batches(loader).begin();
  });
  EXPECT_NE(told.find("HVD_SHARES=measured: hvd::batches: batches are taken from a loader by hand"), std::string::npos) << told;
}

hvd::dist::Settings settings_of(const char* shares, hvd::Batch batch, const char* sync = "") {
  setenv("HVD_SHARES", shares, 1);
  setenv("HVD_SYNC", sync, 1);
  hvd::dist::Settings settings = hvd::dist::read_settings(hvd::Policy().batch(batch));
  unsetenv("HVD_SHARES");
  unsetenv("HVD_SYNC");
  return settings;
}

TEST(MeasuredShares, AreReadAndRefused) {
  const hvd::Batch global = hvd::Batch::global;
  EXPECT_EQ(settings_of("measured", global).error, "");
  EXPECT_EQ(settings_of("measured", global).measured_every, 10);
  EXPECT_EQ(settings_of("measured:3", global).measured_every, 3);
  EXPECT_EQ(settings_of("measured:3", global).misfit(5), "");
  EXPECT_EQ(settings_of("3,1", global).measured_every, 0);
  EXPECT_NE(settings_of("measured:3", global).summary(), settings_of("measured:4", global).summary());
  EXPECT_NE(settings_of("measured", global).summary(), settings_of("", global).summary());
  for (const char* bad : {"measured:", "measured:0", "measured:-1", "measured:1000001", "measured:a", "measured:1,2"})
    EXPECT_NE(settings_of(bad, global).error.find(std::string("HVD_SHARES='") + bad + "' is not understood: measured, or measured:K"), std::string::npos) << bad;
  EXPECT_NE(settings_of("measuring", global).error.find("or measured"), std::string::npos);
  EXPECT_NE(settings_of("measured", hvd::Batch::per_rank).error.find("with HVD_BATCH=global only"), std::string::npos);
  for (const char* sync : {"periodic:4", "post-local:2:4", "hierarchical:4", "parameter-server"})
    EXPECT_NE(settings_of("measured", global, sync).error.find("with HVD_SYNC=step only"), std::string::npos) << sync;
}

}  // namespace
}  // namespace dist_measured_shares_test
