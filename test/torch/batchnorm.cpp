// SPDX-License-Identifier: Apache-2.0
//
// Batch norm over the global batch: the statistics, the running ones and the gradients of the program alone.
#include "support.hpp"

namespace hvd::test {
namespace batchnorm_test {
namespace {

using torch::optim::SGD;
using torch::optim::SGDOptions;
using torch::nn::BatchNorm1d;
using torch::nn::BatchNorm1dOptions;
using torch::nn::BatchNorm2d;
using torch::nn::BatchNorm2dOptions;
using torch::nn::BatchNorm3d;

// Trains layers on inputs of `shape` (without the batch), with tails that leave ranks without rows; ends with parameters and buffers.
std::vector<at::Tensor> train_on(torch::nn::Sequential net, std::vector<std::int64_t> shape, const std::vector<std::int64_t>& batches = kBatches) {
  net->to(torch::kDouble);
  fill(*net);
  SGD opt(net->parameters(), SGDOptions(0.05).momentum(0.9));
  hvd::sync_batchnorm(net);
  hvd::broadcast(net, opt);
  hvd::overlap(net, opt);
  int step = 0;
  shape.insert(shape.begin(), 0);
  for (const std::int64_t rows : batches) {
    hvd::StepScope scope;
    shape[0] = rows;
    const at::Tensor x = hvd::shard(10 + numbers(shape, 1.3 * step++)), target = hvd::shard(numbers({rows}, step));
    opt.zero_grad();
    const at::Tensor out = net->forward(x).flatten(1);
    hvd::weighted((out.tanh().mean(1) - target).square().mean(), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
  }
  net->eval();
  {
    const at::NoGradGuard no_grad;
    shape[0] = 3;
    std::vector<at::Tensor> all = copies(net->parameters());
    for (const at::Tensor& t : copies(net->buffers())) all.push_back(t);
    all.push_back(net->forward(10 + numbers(shape, 9)));
    return all;
  }
}

TEST(TorchBatchNorm, TwoDimensions) {
  expect_as_alone([] {
    return train_on(torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 4, 3).bias(false)), BatchNorm2d(4), torch::nn::ReLU(),
                                          torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 3, 2).bias(false)), BatchNorm2d(3)),
                    {2, 6, 5});
  }, 1e-10);
}

// A variance that is formed of squares about zero loses its digits here.
TEST(TorchBatchNorm, NumbersFarFromZero) {
  expect_as_alone([] {
    torch::nn::Sequential net{BatchNorm2d(2)};
    net->to(torch::kDouble);
    hvd::sync_batchnorm(net);
    hvd::StepScope scope;
    net->forward(hvd::shard(1e6 + numbers({5, 2, 3, 3}, 1)));
    return copies(net->buffers());
  }, 1e-8);
}

TEST(TorchBatchNorm, FirstLayerOnTheData) {
  expect_as_alone([] { return train_on(torch::nn::Sequential(BatchNorm2d(2), torch::nn::Conv2d(2, 3, 3)), {2, 4, 4}); }, 1e-10);
}

TEST(TorchBatchNorm, OneAndThreeDimensions) {
  expect_as_alone([] { return train_on(torch::nn::Sequential(torch::nn::Conv1d(2, 3, 2), BatchNorm1d(3)), {2, 5}); }, 1e-10);
  expect_as_alone([] { return train_on(torch::nn::Sequential(torch::nn::Conv3d(1, 2, 2), BatchNorm3d(2)), {1, 3, 3, 3}); }, 1e-10);
}

TEST(TorchBatchNorm, RowsOfNumbers) {
  expect_as_alone([] { return train_on(torch::nn::Sequential(torch::nn::Linear(6, 5), BatchNorm1d(5)), {6}, {8, 9, 11, 8}); }, 1e-10);
}

TEST(TorchBatchNorm, EveryOption) {
  expect_as_alone([] {  // cumulative average
    return train_on(torch::nn::Sequential(BatchNorm2d(BatchNorm2dOptions(2).momentum(c10::nullopt)), torch::nn::Conv2d(2, 2, 2)), {2, 3, 3});
  }, 1e-10);
  expect_as_alone([] {
    return train_on(torch::nn::Sequential(torch::nn::Conv2d(2, 2, 2), BatchNorm2d(BatchNorm2dOptions(2).affine(false).eps(0.1))), {2, 3, 3});
  }, 1e-10);
  expect_as_alone([] {
    return train_on(torch::nn::Sequential(torch::nn::Conv2d(2, 2, 2), BatchNorm2d(BatchNorm2dOptions(2).track_running_stats(false))), {2, 3, 3});
  }, 1e-10);
}

TEST(TorchBatchNorm, InFloat) {
  expect_as_alone([] {
    torch::nn::Sequential net(torch::nn::Conv2d(2, 4, 3), BatchNorm2d(4));
    fill(*net);
    SGD opt(net->parameters(), SGDOptions(0.05));
    hvd::sync_batchnorm(net);
    hvd::broadcast(net, opt);
    for (int step = 0; step < 5; ++step) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(numbers({7, 2, 6, 6}, step, at::kFloat));
      opt.zero_grad();
      hvd::weighted(net->forward(x).tanh().mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return copies({net->parameters()[0], net->buffers()[0], net->buffers()[1], net->buffers()[2]});
  }, 1e-4);
}

TEST(TorchBatchNorm, OtherLayersAreLeftAlone) {
  hvd::testing::spawn(2, [] {
    torch::nn::Sequential net{BatchNorm2d(2)};
    hvd::sync_batchnorm(net);
    // Calls the same operator inside; outside of a step.
    const auto plain = [](const at::Tensor& x) { return (x - x.mean({0, 2, 3}, true)) * (x.var({0, 2, 3}, false, true) + 1e-5).rsqrt(); };
    hvd::StepScope scope;
    const at::Tensor mine = hvd::shard(numbers({4, 2, 3, 3}, 1, at::kFloat));
    torch::nn::InstanceNorm2d instance(torch::nn::InstanceNorm2dOptions(2).affine(true));
    const at::Tensor over_pixels = (mine - mine.mean({2, 3}, true)) * (mine.var({2, 3}, false, true) + 1e-5).rsqrt();
    EXPECT_LE(difference(instance->forward(mine), over_pixels), 1e-4);
    EXPECT_GT(difference(net->forward(mine), plain(mine)), 1e-3);
  });
  hvd::testing::spawn(2, [] {
    torch::nn::Sequential net{BatchNorm2d(2)};
    hvd::sync_batchnorm(net);
    const at::Tensor mine = numbers({4, 2, 3, 3}, hvd::rank(), at::kFloat);
    EXPECT_LE(difference(net->forward(mine), at::batch_norm(mine, {}, {}, {}, {}, true, 0.1, 1e-5, false)), 1e-5);
  });
}

// Layers that are frozen, of another model, or registered nowhere see a batch that is shared out, too.
TEST(TorchBatchNorm, LayersOfNoTrainedModelToo) {
  expect_as_alone([] {
    torch::nn::Sequential frozen(torch::nn::Conv2d(2, 3, 3), BatchNorm2d(3)), net(torch::nn::Flatten(), torch::nn::Linear(12, 2));
    frozen->to(torch::kDouble), net->to(torch::kDouble);
    fill(*frozen), fill(*net);
    for (auto& p : frozen->parameters()) p.requires_grad_(false);
    SGD opt(net->parameters(), SGDOptions(0.05));
    hvd::sync_batchnorm(net);
    hvd::broadcast(net, opt);
    for (int step = 0; step < 3; ++step) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(numbers({7, 2, 4, 4}, step));
      opt.zero_grad();
      hvd::weighted(net->forward(frozen->forward(x)).tanh().mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return copies({net->parameters()[0], frozen->buffers()[0], frozen->buffers()[1]});
  }, 1e-10);
}

TEST(TorchBatchNorm, WhatItCannotDoIsSaid) {
  const std::string twice = failure(2, [] {
    torch::nn::Sequential net{BatchNorm1d(2)};
    hvd::sync_batchnorm(net);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(numbers({6, 2}, 1, at::kFloat)).clone().requires_grad_(true);
    torch::autograd::grad({net->forward(x).square().sum()}, {x}, {}, c10::nullopt, /*create_graph=*/true);
  });
  EXPECT_NE(twice.find("has no second derivative"), std::string::npos) << twice;
}

TEST(TorchBatchNorm, PlainBatchNormOnAFillerEndsTheJob) {
  const std::string said = failure(3, [] {
    torch::nn::Sequential net{BatchNorm2d(2)};
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(numbers({2, 2, 3, 3}, 1, at::kFloat));
    hvd::weighted(net->forward(x).square().mean(), hvd::LossKind::mean).backward();
  });
  EXPECT_NE(said.find("HVD4001"), std::string::npos) << said;
}

}  // namespace
}  // namespace batchnorm_test
}  // namespace hvd::test
