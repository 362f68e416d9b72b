// SPDX-License-Identifier: Apache-2.0

// Parameters averaged now and then instead of gradients at every step: against every-step runs where the two must agree, and against
// replicas that one process trains and averages by itself. float64, so that what is compared is the arithmetic.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/counts.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_local_steps_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

using Net = std::shared_ptr<hvd::nn::LinearImpl>;
using Opt = std::unique_ptr<hvd::optim::Optimizer>;

constexpr std::int64_t kSamples = 38, kBatch = 8, kBatches = 5;  // the last batch has 6

Tensor inputs() {
  const Tensor x = hvd::empty({kSamples, 6});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i));
  return x;
}
Tensor targets() {
  const Tensor y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = (i * i) % 3;
  return y;
}

Net make_net() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  return std::make_shared<hvd::nn::LinearImpl>(6, 3);
}
Opt sgd(const Net& net) {
  return std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(0.2).momentum(0.9).weight_decay(0.01));
}
Opt adam(const Net& net) { return std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(0.02)); }

enum class Loss { mean, sum, counted };

void backward(const Net& net, const data::Batch& batch, Loss loss) {
  const Tensor scores = net->forward(batch.data);
  if (loss == Loss::mean) hvd::weighted(F::cross_entropy(scores, batch.target), hvd::LossKind::mean).backward();
  if (loss == Loss::sum) {
    const auto options = F::CrossEntropyFuncOptions().reduction(hvd::kSum);
    hvd::weighted(F::cross_entropy(scores, batch.target, options), hvd::LossKind::sum).backward();
  }
  if (loss == Loss::counted) {
    const auto options = F::CrossEntropyFuncOptions().ignore_index(1);
    const double counted = hvd::counted_terms(batch.target, options);
    hvd::weighted(F::cross_entropy(scores, batch.target, options), hvd::LossKind::counted(counted)).backward();
  }
}

struct Setting {
  std::int64_t period = 0, local_after = 0;
  Loss loss = Loss::mean;
  Opt (*optimizer)(const Net&) = sgd;
  int epochs = 2;
  std::size_t bucket_bytes = 4 << 20;
  bool overlap = false;
  std::function<void(int epoch, const Net&)> after_epoch;
  std::function<bool(int batch, const Net&)> in_batch;  // true: break
};

hvd::dist::Rank& rank() { return *hvd::dist::this_rank(); }

void train(const Setting& run) {
  auto& settings = rank().settings;
  settings.policy.batch(hvd::Batch::global);
  settings.period = run.period;
  settings.local_after = run.local_after;
  settings.bucket_bytes = run.bucket_bytes;
  rank().local_phase = run.period > 0 && run.local_after == 0;
  const Net net = make_net();
  const Opt opt = run.optimizer(net);
  hvd::broadcast(*net, *opt);
  if (run.overlap) hvd::overlap(*net, *opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(data::datasets::TensorDataset(inputs(), targets()), kBatch);
  for (int epoch = 0; epoch < run.epochs; ++epoch) {
    int number = 0;
    for (data::Batch& batch : hvd::steps(*loader)) {
      opt->zero_grad();
      backward(net, batch, run.loss);
      hvd::reduce_gradients(*opt);
      opt->step();
      if (run.in_batch && run.in_batch(number++, net)) break;
    }
    if (run.after_epoch) run.after_epoch(epoch, net);
  }
}

std::vector<double> flat(const Net& net) {
  std::vector<double> values;
  for (const Tensor& p : net->parameters()) values.insert(values.end(), p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
  return values;
}

// What each rank ends every epoch with.
std::vector<std::vector<std::vector<double>>> results(int ranks, Setting run) {
  std::vector<std::vector<std::vector<double>>> all(static_cast<std::size_t>(ranks));
  run.after_epoch = [&](int, const Net& net) { all[static_cast<std::size_t>(hvd::rank())].push_back(flat(net)); };
  spawn(ranks, [&] { train(run); });
  return all;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

class LocalSteps : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, LocalSteps, ::testing::Values(2, 3, 5, 7));

TEST_P(LocalSteps, APeriodOfOneIsEveryStepForSgd) {
  for (const Loss loss : {Loss::mean, Loss::sum, Loss::counted}) {
    Setting run;
    run.loss = loss;
    const auto every = results(GetParam(), run);
    run.period = 1;
    const auto local = results(GetParam(), run);
    for (std::size_t r = 0; r < every.size(); ++r)
      for (std::size_t epoch = 0; epoch < 2; ++epoch)
        EXPECT_LT(difference(local[r][epoch], every[r][epoch]), 1e-11) << "rank " << r << ", loss " << static_cast<int>(loss);
  }
}

TEST_P(LocalSteps, ReplicasAreTheSameAtTheEndOfAnEpochAndNotInBetween) {
  for (Opt (*optimizer)(const Net&) : {&sgd, &adam}) {
    const int n = GetParam();
    std::vector<std::vector<double>> within(static_cast<std::size_t>(n));
    Setting run;
    run.period = 3;
    run.optimizer = optimizer;
    run.in_batch = [&](int batch, const Net& net) {
      if (batch == 1) within[static_cast<std::size_t>(hvd::rank())] = flat(net);
      return false;
    };
    const auto all = results(n, run);
    for (std::size_t r = 1; r < all.size(); ++r) {
      EXPECT_EQ(all[r], all[0]) << "rank " << r;
      EXPECT_GT(difference(within[r], within[0]), 1e-4);
    }
  }
}

// N replicas in one process: each trains on its slices, after every k-th batch and at the end their values are averaged by samples.
std::vector<double> by_hand(int n, std::int64_t k, int epochs) {
  std::vector<Net> nets;
  std::vector<Opt> opts;
  for (int r = 0; r < n; ++r) {
    nets.push_back(make_net());
    opts.push_back(sgd(nets.back()));
  }
  const Tensor x = inputs(), y = targets();
  std::vector<double> samples(static_cast<std::size_t>(n), 0);
  const auto average = [&] {
    const hvd::NoGradGuard no_grad;
    double all = 0;
    for (const double s : samples) all += s;
    std::vector<std::vector<Tensor>> values;
    for (int r = 0; r < n; ++r) {
      values.push_back(nets[static_cast<std::size_t>(r)]->parameters());
      for (const auto& state : opts[static_cast<std::size_t>(r)]->state())
        if (state.name.find("momentum") != std::string::npos) values.back().push_back(state.tensor);
    }
    for (std::size_t i = 0; i < values[0].size(); ++i) {
      Tensor mean = hvd::zeros(values[0][i].sizes());
      for (std::size_t r = 0; r < values.size(); ++r) mean = mean + values[r][i].detach() * (samples[r] / all);
      for (std::size_t r = 0; r < values.size(); ++r) values[r][i].detach().copy_(mean);
    }
    samples.assign(samples.size(), 0);
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::int64_t b = 0; b < kBatches; ++b) {
      const std::int64_t first = b * kBatch, rows = std::min(kBatch, kSamples - first);
      for (int r = 0; r < n; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const std::int64_t from = first + r * rows / n, to = first + (r + 1) * rows / n;
        opts[i]->zero_grad();
        F::cross_entropy(nets[i]->forward(x.slice(0, from, to)), y.slice(0, from, to)).backward();
        opts[i]->step();
        samples[i] += static_cast<double>(to - from);
      }
      if ((b + 1) % k == 0) average();
    }
    if (kBatches % k) average();
  }
  return flat(nets[0]);
}

TEST_P(LocalSteps, AreThoseOfReplicasAveragedByHand) {
  if (GetParam() > 6) return;  // the last batch gives every rank a row up to here
  for (const std::int64_t k : {2, 3, 5, 100}) {
    std::vector<double> wanted;
    spawn(1, [&] { wanted = by_hand(GetParam(), k, 2); });
    Setting run;
    run.period = k;
    const auto got = results(GetParam(), run);
    for (const auto& rank : got) EXPECT_LT(difference(rank[1], wanted), 1e-12) << "k = " << k;
  }
}

// Reductions on the first gradient channel since the run began.
std::uint64_t reductions() { return rank().board->slot().channels[hvd::dist::kReducerChannel].entered.load(); }

TEST_P(LocalSteps, MakeExactlyTheReductionsThatWereAnnounced) {
  for (const std::size_t bucket_bytes : {std::size_t{4} << 20, std::size_t{64}}) {
    const auto count = [&](std::int64_t k) {
      std::uint64_t per_epoch = 0, before = 0;
      Setting run;
      run.period = k;
      run.bucket_bytes = bucket_bytes;
      run.after_epoch = [&](int, const Net&) {
        if (!hvd::is_root()) return;
        per_epoch = reductions() - before;
        before = reductions();
      };
      spawn(GetParam(), [&] { train(run); });
      return per_epoch;
    };
    const std::uint64_t buckets = count(100);
    EXPECT_EQ(buckets, bucket_bytes == 64 ? 4u : 1u);  // parameters and momentum of a weight and a bias
    for (const std::int64_t k : {1, 2, 3, 4, 5}) EXPECT_EQ(count(k), static_cast<std::uint64_t>((kBatches + k - 1) / k) * buckets) << k;
  }
}

TEST_P(LocalSteps, BeginAfterTheStepsThatWereAskedFor) {
  for (const bool overlap : {false, true}) {
    Setting run;
    run.overlap = overlap;
    const auto every = results(GetParam(), run);
    run.period = 4;
    run.local_after = 2 * kBatches;
    EXPECT_EQ(results(GetParam(), run), every);  // it comes to none
    run.local_after = 3;
    run.period = 1;
    const auto post = results(GetParam(), run);
    for (std::size_t r = 0; r < post.size(); ++r) EXPECT_LT(difference(post[r][1], every[r][1]), 1e-11);
    run.period = 4;
    const auto apart = results(GetParam(), run);
    EXPECT_EQ(apart[1], apart[0]);
    EXPECT_GT(difference(apart[0][1], every[0][1]), 1e-6);
  }
}

TEST_P(LocalSteps, AreAveragedWhenTheLoopIsLeft) {
  Setting run;
  run.period = 100;
  run.in_batch = [](int batch, const Net&) { return batch == 2; };
  const auto all = results(GetParam(), run);
  for (std::size_t r = 1; r < all.size(); ++r) EXPECT_EQ(all[r], all[0]);
}

TEST(LocalStepsByHand, AreRefusedWhereTheEndOfAnEpochIsNotKnown) {
  const auto loop = [](std::int64_t period) {
    return [period] {
      rank().settings.period = period;
      rank().local_phase = true;
      const Net net = make_net();
      const Opt opt = sgd(net);
      for (int step = 0; step < 3; ++step) {
        hvd::StepScope scope;
        opt->zero_grad();
        const Tensor x = hvd::shard(inputs()), y = hvd::shard(targets());
        hvd::weighted(F::cross_entropy(net->forward(x), y), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(*opt);
        opt->step();
      }
    };
  };
  EXPECT_NE(failure(2, loop(2)).find("HVD_SYNC=step"), std::string::npos);
  EXPECT_EQ(failure(2, loop(1)), "no exception");
}

}  // namespace
}  // namespace dist_local_steps_test
