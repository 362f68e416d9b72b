// SPDX-License-Identifier: Apache-2.0

// HVD_SYNC=hierarchical: ranks of a node against one rank that takes their slices together, in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

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

namespace dist_hierarchical_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

constexpr std::int64_t kSamples = 45, kBatch = 12;  // batches of 12, 12, 12 and 9

data::datasets::TensorDataset samples() {
  const Tensor x = hvd::empty({kSamples, 6}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i));
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = (i * i) % 3;
  return {x, y};
}

enum class Loss { mean, sum, counted };

struct Setting {
  std::int64_t period = 0;
  int node = 0;  // ranks of one; 0: no nodes
  Loss loss = Loss::mean;
  bool adam = false, overlap = false, accumulate = false, check = false;
  std::int64_t batch = kBatch;
};

struct End {
  std::vector<double> parameters;
  std::vector<double> looks;  // of the first parameter, after each step
};

void train(const Setting& run, End& end) {
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  rank.settings.policy.batch(hvd::Batch::global);
  rank.settings.period = run.period;
  rank.settings.hierarchical = run.node > 0;
  rank.settings.node_ranks = run.node;
  rank.local_phase = run.period > 0 && run.node == 0;
  if (run.check) rank.begin_check();
  if (run.node > 0) { EXPECT_EQ(rank.open_node(), ""); }
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  auto net = std::make_shared<hvd::test::NetImpl>();
  std::unique_ptr<hvd::optim::Optimizer> opt;
  if (run.adam) opt = std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(0.02));
  else opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(run.loss == Loss::sum ? 0.01 : 0.1).momentum(0.9).weight_decay(0.01));
  hvd::broadcast(net, *opt);
  if (run.overlap) hvd::overlap(net, *opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(run.batch));
  for (int epoch = 0; epoch < 3; ++epoch) {
    int number = 0;
    for (data::Batch& batch : hvd::steps(*loader)) {
      const auto options = F::CrossEntropyFuncOptions().ignore_index(run.loss == Loss::counted ? 1 : -100).reduction(run.loss == Loss::sum ? hvd::kSum : hvd::kMean);
      const Tensor loss = F::cross_entropy(net->forward(batch.data), batch.target, options);
      const double terms = hvd::counted_terms(batch.target, options);
      const hvd::LossKind kind = run.loss == Loss::mean ? hvd::LossKind::mean : run.loss == Loss::sum ? hvd::LossKind::sum : hvd::LossKind::counted(terms);
      hvd::weighted(loss, kind).backward();
      if (run.accumulate && ++number % 2) continue;
      hvd::reduce_gradients(*opt);
      opt->step();
      opt->zero_grad();
      end.looks.push_back(net->a->weight.abs().sum().item<double>());
    }
  }
  for (const Tensor& p : net->parameters()) end.parameters.insert(end.parameters.end(), p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
}

std::vector<End> ends(int ranks, const Setting& run) {
  std::vector<End> all(static_cast<std::size_t>(ranks));
  spawn(ranks, [&] { train(run, all[static_cast<std::size_t>(hvd::rank())]); });
  return all;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

const std::vector<Setting> kForms = {Setting{}, Setting{.loss = Loss::sum}, Setting{.loss = Loss::counted}, Setting{.adam = true}, Setting{.overlap = true},
                                     Setting{.accumulate = true}, Setting{.check = true}, Setting{.batch = 7}};

// Slices of two ranks are, put together, that of one of half as many: nodes are then what ranks are under periodic:K. The small batch leaves
// ranks, and a whole node, without a sample.
TEST(Hierarchical, ANodeIsARankOfLocalSteps) {
  for (Setting run : kForms)
    for (const int nodes : {2, 3})
      for (const std::int64_t batch : {run.batch, std::int64_t{2}}) {
        if (batch == 2 && run.adam) continue;  // a step with nothing to go by moves Adam's parameters, a rank that has no part in one as well
        run.batch = batch;
        run.period = 3;
        run.node = 0;
        const auto ranks = ends(nodes, run);
        run.node = 2;
        const auto members = ends(2 * nodes, run);
        for (std::size_t r = 0; r < members.size(); ++r) {
          EXPECT_LT(apart(members[r].parameters, ranks[r / 2].parameters), 1e-11) << "rank " << r << ", batch " << batch;
          EXPECT_LT(apart(members[r].looks, ranks[r / 2].looks), 1e-10) << "rank " << r << ", batch " << batch;
        }
      }
}

class HierarchicalRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, HierarchicalRanks, ::testing::Values(2, 3, 5));

// With a mean after every step SGD is that of every step, whatever the nodes: the last one may be smaller.
TEST_P(HierarchicalRanks, APeriodOfOneIsEveryStepForSgd) {
  for (Setting run : kForms) {
    if (run.adam || run.accumulate) continue;  // of several batches a node counts all samples alike
    const auto every = ends(GetParam(), run);
    run.period = 1;
    for (const int node : {1, 2, 3}) {
      run.node = node;
      const auto all = ends(GetParam(), run);
      for (std::size_t r = 0; r < all.size(); ++r) EXPECT_LT(apart(all[r].parameters, every[r].parameters), 1e-11) << "rank " << r << ", nodes of " << node;
    }
  }
}

TEST_P(HierarchicalRanks, OneNodeIsEveryStep) {
  for (Setting run : kForms) {
    const auto every = ends(GetParam(), run);
    run.period = 4;
    run.node = GetParam();
    const auto all = ends(GetParam(), run);
    for (std::size_t r = 0; r < all.size(); ++r) EXPECT_LT(apart(all[r].parameters, every[r].parameters), 1e-12) << "rank " << r;
  }
}

TEST_P(HierarchicalRanks, ReplicasOfANodeAreOneAndAllAreAtTheEnd) {
  const auto all = ends(GetParam(), {.period = 100, .node = 2});
  for (std::size_t r = 1; r < all.size(); ++r) {
    EXPECT_EQ(all[r].parameters, all[0].parameters) << "rank " << r;
    if (r % 2) EXPECT_EQ(all[r].looks, all[r - 1].looks) << "rank " << r;
    else EXPECT_NE(all[r].looks[1], all[r - 1].looks[1]) << "rank " << r;
  }
}

std::string setting_error(const char* sync, const char* node = "", const char* compression = "") {
  setenv("HVD_SYNC", sync, 1);
  setenv("HVD_NODE_SIZE", node, 1);
  setenv("HVD_COMPRESSION", compression, 1);
  const hvd::dist::Settings settings = hvd::dist::read_settings({});
  for (const char* name : {"HVD_SYNC", "HVD_NODE_SIZE", "HVD_COMPRESSION"}) unsetenv(name);
  if (settings.error.empty() && std::string(sync).starts_with("hierarchical")) { EXPECT_TRUE(settings.hierarchical && settings.period > 0); }
  return settings.error;
}

TEST(HierarchicalSettings, AreReadAndRefused) {
  for (const char* good : {"hierarchical:4", "hierarchical:grow:2:1:16", "hierarchical:adaptive:5"}) EXPECT_EQ(setting_error(good, "8", "bf16"), "") << good;
  for (const char* bad : {"hierarchical", "hierarchical:", "hierarchical:0", "hierarchical:4:4"})
    EXPECT_NE(setting_error(bad).find("is not understood: step, periodic:K"), std::string::npos) << bad;
  EXPECT_NE(setting_error("hierarchical:4", "0").find("HVD_NODE_SIZE='0' is not understood: a number of ranks from 1 on"), std::string::npos);
  EXPECT_NE(setting_error("periodic:4", "2").find("it is for HVD_SYNC=hierarchical"), std::string::npos);
}

TEST(HierarchicalSettings, LoopsByHandAreRefused) {
  const auto told = [](std::int64_t period) {
    return failure(2, [=] {
      hvd::dist::Rank& rank = *hvd::dist::this_rank();
      rank.settings.hierarchical = true;
      rank.settings.node_ranks = 1;
      rank.settings.period = period;
      rank.open_node();
      hvd::nn::Linear net(3, 2);
      hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
      const hvd::StepScope scope;
      hvd::weighted(net->forward(hvd::shard(hvd::ones({4, 3}))).mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
    });
  };
  EXPECT_NE(told(2).find("steps through its batches by hand"), std::string::npos);
  EXPECT_EQ(told(1), "no exception");
}

}  // namespace
}  // namespace dist_hierarchical_test
