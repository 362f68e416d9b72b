// SPDX-License-Identifier: Apache-2.0
// State that ranks share: the initial broadcast, buffers, synchronised batch norm.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>
#include <hvd/dist/counts.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>

#include "dist_support.hpp"

namespace dist_state_test {
namespace {

using hvd::Tensor;
using hvd::test::NetImpl;
using hvd::test::failure;
using hvd::testing::spawn;

class StateRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, StateRanks, ::testing::Values(1, 2, 3, 4, 7));

TEST_P(StateRanks, BroadcastMakesTheRootsStateEverybodys) {
  spawn(GetParam(), [] {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(100 + static_cast<std::uint64_t>(hvd::rank()));
    auto net = std::make_shared<NetImpl>();
    hvd::nn::Sequential head(hvd::nn::Linear(3, 3), hvd::nn::ReLU(), hvd::nn::BatchNorm2d(4));
    std::unique_ptr<hvd::optim::Optimizer> opt = std::make_unique<hvd::optim::Adam>(net->parameters(), hvd::optim::AdamOptions(0.1));
    if (hvd::is_root()) {  // state that the others do not have yet
      net->forward(hvd::ones({2, 6})).sum().backward();
      opt->step();
      opt->zero_grad();
      opt->set_lr(0.025);
    }
    Tensor mask = hvd::full({3}, hvd::rank() + 5);
    hvd::broadcast(net, opt, head, mask);
    double weight = net->a->weight.sum().item<double>() + head->parameters()[0].sum().item<double>();
    double drawn = hvd::rand({1}).item<double>();
    const double both = weight + drawn;
    EXPECT_EQ(hvd::from_root([&] { return both; }), both);
    EXPECT_EQ(mask[0].item<double>(), 5);
    EXPECT_EQ(opt->lr(), 0.025);
    bool moment = false;
    for (const auto& entry : opt->state()) {
      if (entry.name != "0.exp_avg") continue;
      moment = true;
      const double sum = entry.tensor.sum().item<double>();
      EXPECT_EQ(hvd::from_root([&] { return sum; }), sum);
      EXPECT_NE(sum, 0);
    }
    EXPECT_TRUE(moment);
  });
}

TEST(Broadcast, ModelsThatDifferAreTold) {
  const std::string what = failure(3, [] {
    hvd::nn::Linear layer(4, hvd::rank() == 2 ? 3 : 2);
    hvd::broadcast(layer);
  });
  EXPECT_NE(what.find("the model of rank 2 has 'weight float32 [3, 4]' where rank 0 has 'weight float32 [2, 4]'"), std::string::npos)
      << what;
}

Tensor images(std::int64_t rows) {
  const Tensor x = hvd::empty({rows, 2, 3, 3});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::cos(0.3 * static_cast<double>(i * i % 101));
  return x;
}

TEST_P(StateRanks, SynchronisedBatchNormSeesTheWholeBatch) {
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{11}}) {
    Tensor mean, var, grad;
    spawn(1, [&] {
      hvd::set_default_dtype(hvd::kFloat64);
      hvd::nn::BatchNorm2d bn(2);
      (bn->forward(images(rows)) * images(rows).square()).mean().backward();
      mean = bn->running_mean.clone(), var = bn->running_var.clone(), grad = bn->weight.grad().clone();
    });
    spawn(GetParam(), [&] {
      hvd::set_default_dtype(hvd::kFloat64);
      hvd::nn::BatchNorm2d bn(2);
      hvd::broadcast(bn);
      hvd::sync_batchnorm(bn);
      hvd::optim::SGD opt(bn->parameters(), hvd::optim::SGDOptions(0.1));
      {
        hvd::StepScope step;
        const Tensor x = hvd::shard(images(rows));
        hvd::weighted((bn->forward(x) * x.square()).mean(), hvd::LossKind::mean).backward();
      }
      hvd::reduce_gradients(opt);
      hvd::sync_buffers(bn);
      EXPECT_TRUE(hvd::allclose(bn->running_mean, mean, 1e-12, 1e-14));
      EXPECT_TRUE(hvd::allclose(bn->running_var, var, 1e-12, 1e-14));
      EXPECT_TRUE(hvd::allclose(bn->weight.grad(), grad, 1e-12, 1e-14));
    });
  }
}

TEST(Buffers, AreAveragedBySamples) {
  spawn(2, [] {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::nn::BatchNorm2d bn(2);
    hvd::optim::SGD opt(bn->parameters(), hvd::optim::SGDOptions(0.1));
    {
      hvd::StepScope step;  // 1 row and 2 rows
      hvd::weighted(bn->forward(hvd::shard(images(3))).square().mean(), hvd::LossKind::mean).backward();
    }
    bn->running_mean.fill_(hvd::rank() == 0 ? 3.0 : 6.0);
    bn->num_batches_tracked.fill_(hvd::rank() == 0 ? 8 : 9);
    hvd::sync_buffers(bn);
    EXPECT_NEAR(bn->running_mean[1].item<double>(), 5, 1e-12);
    EXPECT_EQ(bn->num_batches_tracked.item<int>(), 8);
    bn->running_mean.fill_(7.0);
    hvd::sync_buffers(bn);  // nobody has trained since
    EXPECT_EQ(bn->running_mean[0].item<double>(), 7);
  });
}

TEST(Buffers, PlainBatchNormOnAFillerEndsTheJob) {
  const std::string what = failure(3, [] {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::nn::Sequential model(hvd::nn::BatchNorm2d(2), hvd::nn::ReLU());
    hvd::broadcast(model);
    hvd::StepScope step;
    hvd::weighted(model->forward(hvd::shard(images(2))).mean(), hvd::LossKind::mean).backward();
  });
  EXPECT_NE(what.find("HVD4001"), std::string::npos) << what;
}

}  // namespace
}  // namespace dist_state_test
