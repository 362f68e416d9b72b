// SPDX-License-Identifier: Apache-2.0

// HVD_COMPRESSION in trainings of the core: replicas stay one, and the loss falls as without it.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <hvd/amp.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_compressed_training_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

constexpr std::int64_t kSamples = 70, kColumns = 10, kBatch = 16, kClasses = 4;  // the last batch has 6

// Classes that a small network tells apart.
data::datasets::TensorDataset samples() {
  const Tensor x = hvd::empty({kSamples, kColumns}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    y.data_ptr<std::int64_t>()[i] = i % kClasses;
    for (std::int64_t j = 0; j < kColumns; ++j)
      x.data_ptr<float>()[i * kColumns + j] = static_cast<float>(std::sin(1.7 * static_cast<double>(i * kColumns + j)) + (j % kClasses == i % kClasses ? 1.0 : 0.0));
  }
  return {x, y};
}

struct Net : hvd::nn::Module {
  Net() {
    first = register_module("first", hvd::nn::Linear(kColumns, 24));
    second = register_module("second", hvd::nn::Linear(24, kClasses));
    unused = register_module("unused", hvd::nn::Linear(12, 12));
  }
  Tensor forward(const Tensor& x) { return second->forward(first->forward(x).tanh()); }
  std::shared_ptr<hvd::nn::LinearImpl> first, second, unused;
};

struct Setting {
  std::string compression = "none";
  bool overlap = false, accumulate = false, server = false, check = false, keep = false;
};

struct End {
  std::vector<float> parameters;
  double loss = 0;
};

// `keep`: gradients are not set to zero between steps, so that a sum over ranks is added to.
End train(const Setting& run, int epochs) {
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  EXPECT_TRUE(hvd::dist::read_compression(run.compression, rank.settings.compression));
  rank.settings.server = run.server;
  if (run.check) rank.begin_check();
  rank.settings.policy.batch(hvd::Batch::global);
  hvd::manual_seed(5);
  Net net;
  hvd::optim::SGD opt(net.parameters(), hvd::optim::SGDOptions(run.keep ? 0.002 : 0.1).momentum(run.keep ? 0 : 0.9));
  hvd::broadcast(net, opt);
  if (run.overlap) hvd::overlap(net, opt);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(kBatch));
  End end;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    int number = 0;
    end.loss = 0;
    for (data::Batch& batch : hvd::steps(*loader)) {
      const Tensor loss = F::cross_entropy(net.forward(batch.data), batch.target);
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      end.loss += hvd::batch_mean(loss.item<double>()) / static_cast<double>(loader->size());
      if (run.accumulate && ++number % 2) continue;
      hvd::reduce_gradients(opt);
      opt.step();
      if (!run.keep) opt.zero_grad();
    }
  }
  for (const Tensor& p : net.parameters()) end.parameters.insert(end.parameters.end(), p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  return end;
}

std::vector<End> ends(int ranks, const Setting& run, int epochs = 12) {
  std::vector<End> all(static_cast<std::size_t>(ranks));
  spawn(ranks, [&] { all[static_cast<std::size_t>(hvd::rank())] = train(run, epochs); });
  return all;
}

class CompressedTraining : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CompressedTraining, ::testing::Values(2, 3, 5));

TEST_P(CompressedTraining, ReachesTheLossOnReplicasThatAreOne) {
  const double start = ends(1, {}, 1)[0].loss;
  for (const Setting& form : {Setting{}, Setting{.overlap = true}, Setting{.accumulate = true}, Setting{.overlap = true, .check = true}, Setting{.keep = true},
                              Setting{.server = true}}) {
    const double goal = ends(1, form)[0].loss;
    ASSERT_LT(goal, 0.8 * start);
    for (const char* compression : {"bf16", "fp16", "powersgd:1", "powersgd:4"}) {
      Setting run = form;
      run.compression = compression;
      const auto all = ends(GetParam(), run);
      // The part of the way that may be missing after so few steps: rank 1 is late with most of the gradient, and later still where a
      // gradient that has been reduced is added to.
      const double late = compression == std::string("powersgd:1") ? (run.keep ? 0.6 : 0.35) : compression == std::string("powersgd:4") ? 0.1 : 0.01;
      EXPECT_NEAR(all[0].loss, goal, late * (start - goal)) << compression;
      for (std::size_t r = 1; r < all.size(); ++r) EXPECT_EQ(all[r].parameters, all[0].parameters) << compression << ", rank " << r;
    }
  }
}

// Without the setting nothing is different, and with it something is: else nothing has been compressed.
TEST(CompressedTrainings, OnlyWhenAskedFor) {
  const auto plain = ends(2, {}, 2), named = ends(2, {.compression = "none"}, 2), alone = ends(1, {.compression = "powersgd:1"}, 2);
  EXPECT_EQ(plain[0].parameters, named[0].parameters);
  EXPECT_EQ(alone[0].parameters, ends(1, {}, 2)[0].parameters);  // one rank sends nothing
  for (const char* compression : {"bf16", "fp16", "powersgd:1"}) EXPECT_NE(ends(2, {.compression = compression}, 2)[0].parameters, plain[0].parameters);
}

TEST(CompressedTrainings, PowerSgdRefusesAChangingScale) {
  const auto told = [](const char* compression, bool scaled) {
    return failure(2, [=] {
      hvd::dist::read_compression(compression, hvd::dist::this_rank()->settings.compression);
      hvd::nn::Linear net(8, 8);
      hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
      hvd::amp::GradScaler scaler;
      const hvd::StepScope scope;
      const Tensor loss = net->forward(hvd::shard(hvd::ones({4, 8}))).mean();
      hvd::weighted(scaled ? scaler.scale(loss) : loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
    });
  };
  EXPECT_NE(told("powersgd:1", true).find("a GradScaler may have another scale"), std::string::npos);
  EXPECT_EQ(told("powersgd:1", false), "no exception");
  EXPECT_EQ(told("fp16", true), "no exception");  // an overflow is the scaler's business
}

}  // namespace
}  // namespace dist_compressed_training_test
