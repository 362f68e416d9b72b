// SPDX-License-Identifier: Apache-2.0

// HVD_SYNC=parameter-server against every-step runs on one rank fewer, in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hvd/amp.hpp>
#include <hvd/context.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/counts.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_server_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

constexpr std::int64_t kSamples = 38, kBatch = 8;  // the last batch has 6, which leave workers without a sample

data::datasets::TensorDataset samples() {
  const Tensor x = hvd::empty({kSamples, 6}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i));
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = (i * i) % 3;
  return {x, y};
}

struct Setting {
  bool server = false, overlap = false, adam = false, counted = false, accumulate = false, per_rank = false;
};

struct End {
  std::vector<double> parameters, losses, looks;
};

// What a rank ends with: its parameters, the losses of the steps, and what it saw of the model in the middle of each step.
End train(const Setting& run) {
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  rank.settings.server = run.server;
  rank.settings.policy.batch(run.per_rank ? hvd::Batch::per_rank : hvd::Batch::global);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  auto net = std::make_shared<hvd::test::NetImpl>();
  const double rate = hvd::scaled_lr(0.02);
  std::unique_ptr<hvd::optim::Optimizer> opt;
  if (run.adam) opt = std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(rate));
  else opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9).weight_decay(0.01));
  hvd::broadcast(net, *opt);
  if (run.overlap) hvd::overlap(net, *opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(hvd::global_batch_size(run.per_rank ? 2 : kBatch)));
  End end;
  for (int epoch = 0; epoch < 2; ++epoch) {
    int number = 0;
    for (data::Batch& batch : hvd::steps(*loader)) {
      const bool step = !run.accumulate || ++number % 2 == 0;
      const auto options = F::CrossEntropyFuncOptions().ignore_index(run.counted ? 1 : -100);
      const Tensor loss = F::cross_entropy(net->forward(batch.data), batch.target, options);
      const double terms = hvd::counted_terms(batch.target, options);
      hvd::weighted(loss, run.counted ? hvd::LossKind::counted(terms) : hvd::LossKind::mean).backward();
      if (!step) continue;
      hvd::reduce_gradients(*opt);
      hvd::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      opt->step();
      opt->zero_grad();
      end.losses.push_back(run.counted ? hvd::batch_count_mean(loss.item<double>(), terms) : hvd::batch_mean(loss.item<double>()));
      end.looks.push_back(hvd::outside_step().keep(net->a->weight.abs().sum().item<double>()));
    }
  }
  for (const Tensor& p : net->parameters())
    end.parameters.insert(end.parameters.end(), p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
  return end;
}

std::vector<End> ends(int ranks, const Setting& run) {
  std::vector<End> all(static_cast<std::size_t>(ranks));
  spawn(ranks, [&] { all[static_cast<std::size_t>(hvd::rank())] = train(run); });
  return all;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-11 * (1 + std::abs(b[i]))) << what << ", " << i;
}

class Server : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Server, ::testing::Values(2, 3, 4, 6));

TEST_P(Server, IsEveryStepOnOneRankFewer) {
  for (const Setting& run : {Setting{}, Setting{.overlap = true}, Setting{.adam = true}, Setting{.counted = true}, Setting{.accumulate = true},
                             Setting{.per_rank = true}}) {
    Setting served = run;
    served.server = true;
    const auto with = ends(GetParam(), served), without = ends(GetParam() - 1, run);
    for (std::size_t r = 0; r < with.size(); ++r) {
      const std::string who = "rank " + std::to_string(r);
      EXPECT_EQ(with[r].parameters, with[0].parameters) << who;
      EXPECT_EQ(with[r].looks, with[0].looks) << who;
      expect_near(with[r].parameters, without[0].parameters, who + ", parameters");
      expect_near(with[r].losses, without[0].losses, who + ", losses");
      expect_near(with[r].looks, without[0].looks, who + ", looks");
    }
  }
}

TEST(ServerSlices, RemaindersGoToTheFirstWorkers) {
  spawn(4, [] {
    hvd::dist::this_rank()->settings.server = true;
    const auto rows = [](std::int64_t all, int rank) { return hvd::dist::slice_of(all, rank); };
    EXPECT_EQ(hvd::workers(), 3);
    EXPECT_TRUE(rows(8, 0).filler);
    EXPECT_EQ(rows(8, 0).rows, 0);
    for (const auto [all, first, second, third] : {std::array{8, 3, 3, 2}, {9, 3, 3, 3}, {7, 3, 2, 2}, {2, 1, 1, 0}, {1, 1, 0, 0}}) {
      EXPECT_EQ(rows(all, 1).rows, first);
      EXPECT_EQ(rows(all, 2).rows, second);
      EXPECT_EQ(rows(all, 3).rows, third);
      EXPECT_EQ(rows(all, 1).first_row, 0);
      EXPECT_EQ(rows(all, 2).first_row, first);
      EXPECT_EQ(rows(all, 3).first_row, first + second);
      EXPECT_EQ(rows(all, 3).filler, third == 0);
    }
  });
}

TEST(ServerOfOne, IsTheSequentialProgram) {
  const auto with = ends(1, Setting{.server = true}), without = ends(1, Setting{});
  EXPECT_EQ(with[0].parameters, without[0].parameters);
}

TEST(ServerHoldsTheState, WorkersHaveNone) {
  spawn(3, [] {
    hvd::dist::this_rank()->settings.server = true;
    hvd::nn::Linear net(3, 2);
    hvd::optim::Adam opt(net->parameters(), hvd::optim::AdamOptions(0.1));
    hvd::broadcast(net, opt);
    {
      const hvd::StepScope scope;
      const Tensor x = hvd::shard(hvd::ones({4, 3}));
      hvd::weighted(net->forward(x).square().mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    bool moments = false;
    for (const auto& state : opt.state()) moments = moments || state.name.rfind("group.", 0) != 0;
    EXPECT_EQ(moments, hvd::is_root());
  });
}

TEST(ServerRefuses, WhatItWouldGetWrong) {
  const auto told = [](bool twice, bool outside, bool scaled) {
    return failure(2, [=] {
      hvd::dist::this_rank()->settings.server = true;
      hvd::nn::Linear net(3, 2), other(3, 2);
      hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1)), second(other->parameters(), hvd::optim::SGDOptions(0.1));
      hvd::amp::GradScaler scaler;
      std::unique_ptr<hvd::StepScope> scope;
      if (!outside) scope = std::make_unique<hvd::StepScope>();
      const Tensor x = outside ? hvd::ones({4, 3}) : hvd::shard(hvd::ones({4, 3}));
      const Tensor loss = net->forward(x).mean() + other->forward(x).mean();
      hvd::weighted(scaled ? scaler.scale(loss) : loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      if (twice) hvd::reduce_gradients(second);
    });
  };
  EXPECT_EQ(told(false, false, false), "no exception");
  EXPECT_NE(told(true, false, false).find("two optimizer steps in one round"), std::string::npos);
  EXPECT_NE(told(false, true, false).find("outside of a loop over batches"), std::string::npos);
  EXPECT_NE(told(false, false, true).find("GradScaler"), std::string::npos);
}

}  // namespace
}  // namespace dist_server_test
