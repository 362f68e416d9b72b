// SPDX-License-Identifier: Apache-2.0

// HVD_SYNC=parameter-server:async:S: who may be how far ahead, on which parameters, and what all ranks have where they look at the model.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "dist/rank.hpp"
#include "dist/settings.hpp"
#include "dist_support.hpp"

namespace dist_server_async_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

constexpr std::int64_t kSamples = 38, kBatch = 8, kSteps = 5;  // of an epoch; the last batch has 6

data::datasets::TensorDataset samples() {
  const Tensor x = hvd::empty({kSamples, 6}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i));
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = x.data_ptr<double>()[6 * i] > 0.3 ? 2 : x.data_ptr<double>()[6 * i] > -0.3 ? 1 : 0;
  return {x, y};
}

constexpr std::int64_t kSynchronous = -1, kNoServer = -2;

struct Setting {
  std::int64_t staleness = kNoServer;
  int epochs = 2;
  bool adam = false, clip = true, overlap = false, accumulate = false, check = false, look = false, again = false;
  double rate = 0.02;
};

struct End {
  std::vector<double> parameters, epochs;  // those in the end; the loss over all samples after each epoch
  std::vector<double> looks;               // at the model within the body: before and after the optimizer's step
};

std::vector<double> values(const std::vector<Tensor>& tensors) {
  std::vector<double> all;
  for (const Tensor& p : tensors) all.insert(all.end(), p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
  return all;
}

double loss_over_all(hvd::test::NetImpl& net) {
  const hvd::NoGradGuard no_grad;
  auto all = samples();
  double sum = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto one = all.get(static_cast<size_t>(i));
    sum += F::cross_entropy(net.forward(one.data.reshape({1, 6})), one.target.reshape({1})).item<double>();
  }
  return sum / kSamples;
}

/// A training loop; `around(step, before)` is called on every rank before its gradients are pushed and after the body.
template <class Around>
End train(const Setting& run, Around around) {
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  rank.settings.server = run.staleness != kNoServer;
  rank.settings.staleness = run.staleness == kNoServer ? -1 : run.staleness;
  rank.settings.policy.batch(hvd::Batch::global);
  if (run.check) rank.begin_check();
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  auto net = std::make_shared<hvd::test::NetImpl>();
  std::unique_ptr<hvd::optim::Optimizer> opt;
  if (run.adam) opt = std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(run.rate));
  else opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(run.rate).momentum(0.9).weight_decay(0.01));
  hvd::broadcast(net, *opt);
  if (run.overlap) hvd::overlap(net, *opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(kBatch));
  End end;
  std::int64_t step = 0;
  for (int epoch = 0; epoch < run.epochs; ++epoch) {
    for (data::Batch& batch : hvd::steps(*loader)) {
      const bool steps = !run.accumulate || ++step % 2 == 0;
      hvd::weighted(F::cross_entropy(net->forward(batch.data), batch.target), hvd::LossKind::mean).backward();
      if (!steps) continue;
      around(step, true);
      hvd::reduce_gradients(*opt);
      if (run.look) end.looks.push_back(hvd::outside_step().keep(net->a->weight.abs().sum().item<double>()));
      if (run.clip) hvd::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      opt->step();
      opt->zero_grad();
      if (run.look) end.looks.push_back(hvd::outside_step().keep(net->a->weight.abs().sum().item<double>()));
      if (run.again) hvd::broadcast(net, *opt);
      around(step, false);
    }
    end.epochs.push_back(loss_over_all(*net));
  }
  end.parameters = values(net->parameters());
  return end;
}

std::vector<End> ends(int ranks, const Setting& run) {
  std::vector<End> all(static_cast<std::size_t>(ranks));
  spawn(ranks, [&] { all[static_cast<std::size_t>(hvd::rank())] = train(run, [](std::int64_t, bool) {}); });
  return all;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-11 * (1 + std::abs(b[i]))) << what << ", " << i;
}

class AsyncServer : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AsyncServer, ::testing::Values(2, 3, 5));

TEST_P(AsyncServer, WithoutStalenessIsTheSynchronousOne) {
  for (const Setting& run : {Setting{}, Setting{.overlap = true}, Setting{.adam = true}, Setting{.accumulate = true}, Setting{.check = true}, Setting{.look = true}}) {
    Setting waits = run, ahead = run;
    waits.staleness = kSynchronous;
    ahead.staleness = 0;
    const auto with = ends(GetParam(), ahead), without = ends(GetParam(), waits), fewer = ends(GetParam() - 1, run);
    for (std::size_t r = 0; r < with.size(); ++r) {
      EXPECT_EQ(with[r].parameters, with[0].parameters) << "rank " << r;
      EXPECT_EQ(with[r].looks, with[0].looks) << "rank " << r;
      expect_near(with[r].parameters, without[0].parameters, "parameters");
      expect_near(with[r].looks, without[0].looks, "looks");
      expect_near(with[r].parameters, fewer[0].parameters, "parameters of every step");
      expect_near(with[r].looks, fewer[0].looks, "looks of every step");
    }
  }
}

// Whatever is on its way, a look at the model finds the server's parameters, on all ranks, and there are as many steps as ever.
TEST_P(AsyncServer, LooksAtOneState) {
  for (const std::int64_t staleness : {1, 3, 100}) {
    for (const Setting& run : {Setting{.staleness = staleness}, Setting{.staleness = staleness, .adam = true, .look = true},
                               Setting{.staleness = staleness, .accumulate = true, .check = true}, Setting{.staleness = staleness, .again = true}}) {
      const auto all = ends(GetParam(), run);
      for (const End& end : all) {
        EXPECT_EQ(end.parameters, all[0].parameters);
        EXPECT_EQ(end.epochs, all[0].epochs);
        EXPECT_EQ(end.looks, all[0].looks);
      }
    }
  }
}

// Drained in every body, it is the synchronous one again: gradients are at the newest parameters.
TEST(AsyncServerLooks, BringEverything) {
  const auto with = ends(3, Setting{.staleness = 4, .look = true}), without = ends(3, Setting{.staleness = kSynchronous, .look = true});
  expect_near(with[1].parameters, without[0].parameters, "parameters");
  expect_near(with[2].looks, without[0].looks, "looks");
}

struct Counters {
  std::atomic<std::int64_t> pushed{0}, passed{0};
};

// One worker holds its gradients back until the others have gone as far as they may.
void hold_back(std::int64_t staleness, std::int64_t held) {
  constexpr int kRanks = 4, kSlow = 2;
  std::vector<Counters> workers(kRanks);
  std::atomic<int> beyond{0};
  const auto others = [&](auto check) {
    for (int r = 1; r < kRanks; ++r)
      if (r != kSlow) check(workers[static_cast<std::size_t>(r)]);
  };
  spawn(kRanks, [&] {
    const int me = hvd::rank();
    Counters& mine = workers[static_cast<std::size_t>(me)];
    std::int64_t done = 0;
    train(Setting{.staleness = staleness, .epochs = 2}, [&](std::int64_t, bool before) {
      if (me == 0) return;
      if (before && me == kSlow && done + 1 == held) {
        const std::int64_t reach = held - 1 + staleness;  // steps that end without this rank's next gradients
        bool there = false;
        while (!there) {
          there = true;
          others([&](Counters& w) { there = there && w.passed >= reach; });
          std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a chance to do what must not be
        others([&](Counters& w) { EXPECT_LE(w.pushed, reach + 1); });
        others([&](Counters& w) { EXPECT_EQ(w.passed, reach); });
      }
      if (before) {
        // The parameters at hand: all workers have pushed what they rest on.
        for (int r = 1; r < kRanks; ++r) beyond += workers[static_cast<std::size_t>(r)].pushed < done - staleness;
        ++mine.pushed;
        ++done;
        // `passed`: of the steps before this one; the gate of the last body has been passed.
        mine.passed = done - 1;
      }
    });
  });
  EXPECT_EQ(beyond, 0);
  for (int r = 1; r < kRanks; ++r) EXPECT_EQ(workers[static_cast<std::size_t>(r)].pushed, 2 * kSteps);
}

TEST(AsyncServerBound, OthersGoOnAndNeverFurther) {
  hold_back(1, 2);
  hold_back(2, 2);
  hold_back(1, 3);
  hold_back(3, 2);
}

// Old gradients cost some of the way, and more of it at higher rates; in the end it is the same place.
TEST(AsyncServerLearns, AsTheSequentialProgram) {
  for (const bool adam : {false, true}) {
    Setting run{.epochs = 60, .adam = adam, .clip = false, .rate = adam ? 0.01 : 0.02};
    const End alone = ends(1, run)[0];
    ASSERT_LT(alone.epochs.back(), 0.2 * alone.epochs.front()) << "nothing is learned";
    for (const std::int64_t staleness : {1, 4}) {
      run.staleness = staleness;
      const double reached = ends(4, run)[0].epochs.back();
      EXPECT_NEAR(reached, alone.epochs.back(), 0.05 * alone.epochs.front()) << "staleness " << staleness << (adam ? ", Adam" : ", SGD");
    }
  }
}

// From 16 bits to 32, which travel alike as gradients but not as parameters.
TEST(AsyncServerConverts, BetweenEpochs) {
  constexpr int kRanks = 3;
  std::vector<std::vector<double>> all(kRanks);
  spawn(kRanks, [&] {
    hvd::dist::this_rank()->settings.server = true;
    hvd::dist::this_rank()->settings.staleness = 2;
    hvd::dist::this_rank()->settings.policy.batch(hvd::Batch::global);
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(5);
    hvd::nn::Linear net(6, 3);
    net->to(hvd::kBFloat16);
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05));
    hvd::broadcast(net, opt);
    auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(kBatch));
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (data::Batch& batch : hvd::steps(*loader)) {
        const Tensor out = net->forward(batch.data.to(net->weight.dtype())).to(hvd::kFloat64);
        hvd::weighted(F::cross_entropy(out, batch.target), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(opt);
        opt.step();
        opt.zero_grad();
      }
      EXPECT_EQ(net->weight.dtype(), epoch == 0 ? hvd::kBFloat16 : hvd::kFloat32);
      net->to(hvd::kFloat32);
    }
    const Tensor wide = net->weight.detach().to(hvd::kFloat64);
    all[static_cast<std::size_t>(hvd::rank())] = values({wide});
  });
  for (const auto& mine : all) EXPECT_EQ(mine, all[0]);
}

TEST(AsyncServerRefuses, LoopsWhoseEndIsNotKnown) {
  const auto told = [](std::int64_t staleness) {
    return failure(3, [=] {
      hvd::dist::this_rank()->settings.server = true;
      hvd::dist::this_rank()->settings.staleness = staleness;
      hvd::nn::Linear net(3, 2);
      hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
      for (int i = 0; i < 3; ++i) {
        const hvd::StepScope scope;
        hvd::weighted(net->forward(hvd::shard(hvd::ones({4, 3}))).mean(), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(opt);
        opt.step();
      }
    });
  };
  EXPECT_EQ(told(0), "no exception");
  EXPECT_NE(told(2).find("not known where an epoch ends"), std::string::npos);
}

TEST(AsyncServerSettings, AreRead) {
  const auto read = [](const char* value) {
    setenv("HVD_SYNC", value, 1);
    const hvd::dist::Settings settings = hvd::dist::read_settings(hvd::Policy());
    unsetenv("HVD_SYNC");
    return settings;
  };
  EXPECT_EQ(read("parameter-server").staleness, -1);
  EXPECT_TRUE(read("parameter-server").server);
  EXPECT_EQ(read("parameter-server:async:0").staleness, 0);
  EXPECT_EQ(read("parameter-server:async:1000").staleness, 1000);
  EXPECT_TRUE(read("parameter-server:async:12").error.empty());
  EXPECT_NE(read("parameter-server:async:12").summary(), read("parameter-server:async:13").summary());
  EXPECT_NE(read("parameter-server:async:0").summary(), read("parameter-server").summary());
  for (const char* bad : {"parameter-server:async", "parameter-server:async:", "parameter-server:async:-1", "parameter-server:async:1001",
                          "parameter-server:async:2x", "parameter-server:2", "parameter-serverx"})
    EXPECT_NE(read(bad).error.find("parameter-server:async:S"), std::string::npos) << bad;
}

}  // namespace
}  // namespace dist_server_async_test
