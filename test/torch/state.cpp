// SPDX-License-Identifier: Apache-2.0
//
// Initial state: what the root has, all ranks get.
#include <sstream>

#include "support.hpp"

namespace hvd::test {
namespace state_test {
namespace {

using namespace torch::optim;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Optimizer>(std::vector<OptimizerParamGroup>)> make;
};

template <class O, class Options>
Kind kind(const char* name, const Options& options) {
  return {name, [options](std::vector<OptimizerParamGroup> groups) { return std::make_unique<O>(std::move(groups), options); }};
}

std::vector<Kind> kinds() {
  return {kind<SGD>("SGD", SGDOptions(0.05).momentum(0.9).nesterov(true)),
          kind<Adam>("Adam", AdamOptions(0.01).amsgrad(true)),
          kind<AdamW>("AdamW", AdamWOptions(0.01).weight_decay(0.1)),
          kind<RMSprop>("RMSprop", RMSpropOptions(0.01).momentum(0.5).centered(true)),
          kind<Adagrad>("Adagrad", AdagradOptions(0.05).lr_decay(0.1))};
}

class EveryOptimizer : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Torch, EveryOptimizer, ::testing::ValuesIn(kinds()), [](const auto& info) { return info.param.name; });

TEST_P(EveryOptimizer, KnowsItsRule) {
  Net net;
  const auto optimizer = GetParam().make({OptimizerParamGroup(net->a->parameters())});
  const bool plain = std::string(GetParam().name) == "SGD";
  EXPECT_EQ(hvd::rule_of(*optimizer), plain ? LrRule::linear : LrRule::sqrt);
  EXPECT_EQ(hvd::rule_of(optimizer->param_groups()[0].options()), plain ? LrRule::linear : LrRule::sqrt);
  EXPECT_THROW(hvd::rule_of(OptimizerOptions()), c10::Error);
}

std::unique_ptr<Optimizer> make(const Net& net) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(net->a->parameters());
  groups.emplace_back(net->b->parameters());
  return EveryOptimizer::GetParam().make(std::move(groups));
}

TEST_P(EveryOptimizer, TrainsAsAlone) {
  expect_as_alone([] {
    Net net;
    auto opt = make(net);
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    train(net, *opt);
    return copies(net->parameters());
  }, 1e-10);
}

// The root has trained before (or loaded): moments, step counts and rates are there, elsewhere they are not yet made.
TEST_P(EveryOptimizer, LazilyMadeStateOfTheRoot) {
  expect_as_alone([] {
    Net net;
    auto opt = make(net);
    if (hvd::is_root()) {
      for (int step = 0; step < 3; ++step) {
        opt->zero_grad();
        net->forward(inputs(8, step)).square().mean().backward();
        opt->step();
      }
      opt->param_groups()[1].options().set_lr(0.007);
      for (at::Tensor& p : net->parameters()) p.mutable_grad() = at::Tensor();
    }
    hvd::broadcast(net, opt);
    train(net, *opt);
    return copies(net->parameters());
  }, 1e-10);
}

TEST_P(EveryOptimizer, ALoadOnTheRoot) {
  std::stringstream file;
  {
    Net net;
    auto opt = make(net);
    train(net, *opt);
    torch::save(*opt, file);
  }
  const std::string text = file.str();
  expect_as_alone([&] {
    Net net;
    auto opt = make(net);
    hvd::broadcast(net, opt);
    train(net, *opt);
    hvd::from_root([&] {
      std::istringstream in(text);
      torch::load(*opt, in);
    });
    hvd::broadcast(opt);
    train(net, *opt);
    return copies(net->parameters());
  }, 1e-10);
}

TEST(TorchState, WhatTheRootHasNotIsForgotten) {
  expect_as_alone([] {
    Net net;
    Adam opt(net->parameters(), AdamOptions(0.01));
    if (!hvd::is_root()) {
      net->forward(inputs(8, 1)).square().mean().backward();
      opt.step();
      for (at::Tensor& p : net->parameters()) p.mutable_grad() = at::Tensor();
    }
    hvd::broadcast(net, opt);
    train(net, opt);
    return copies(net->parameters());
  }, 1e-10);
}

TEST(TorchState, ParametersAndBuffers) {
  hvd::testing::spawn(3, [] {
    torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4));
    const double mine = hvd::rank() + 1;
    {
      const at::NoGradGuard no_grad;
      for (at::Tensor& t : net->parameters()) t.fill_(mine);
      for (at::Tensor& t : net->buffers()) t.fill_(10 * mine);
    }
    hvd::broadcast(net);
    for (const at::Tensor& t : net->parameters()) EXPECT_EQ(t.min().item<double>(), 1);
    for (const auto& t : net->named_buffers()) {
      EXPECT_EQ(t.value().min().item<double>(), 10) << t.key();
      EXPECT_EQ(t.value().max().item<double>(), 10) << t.key();
    }
    EXPECT_EQ(net->named_buffers()["1.num_batches_tracked"].scalar_type(), at::kLong);
  });
}

TEST(TorchState, BareTensorsThatTheRootHasLoaded) {
  std::stringstream one_file, many_file;
  torch::save(numbers({2, 3}, 1), one_file);
  torch::save(std::vector<at::Tensor>{numbers({4}, 2), at::arange(3, at::kLong)}, many_file);
  const std::string one_text = one_file.str(), many_text = many_file.str();
  hvd::testing::spawn(3, [&] {
    at::Tensor one;
    std::vector<at::Tensor> many(hvd::rank() == 1 ? 5 : 0);
    hvd::from_root([&] {
      std::istringstream in(one_text), in_many(many_text);
      torch::load(one, in);
      torch::load(many, in_many);
    });
    hvd::broadcast(one, many);
    EXPECT_TRUE(one.equal(numbers({2, 3}, 1)));
    ASSERT_EQ(many.size(), 2u);
    EXPECT_TRUE(many[0].equal(numbers({4}, 2)));
    EXPECT_TRUE(many[1].equal(at::arange(3, at::kLong)));
    at::Tensor nothing = hvd::is_root() ? at::Tensor() : at::ones({2});
    hvd::broadcast(nothing);
    EXPECT_FALSE(nothing.defined());
  });
}

// A load from another device takes the file's type.
TEST(TorchState, AnotherTypeOnTheRoot) {
  expect_as_alone([] {
    Net net;
    net->to(torch::kFloat);
    SGD opt(net->parameters(), SGDOptions(0.05));
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    hvd::from_root([&] {
      const at::NoGradGuard no_grad;
      for (at::Tensor& p : net->parameters()) p.set_data(p.to(at::kDouble) * 1.5);
    });
    hvd::broadcast(net);
    EXPECT_EQ(net->a->weight.scalar_type(), at::kDouble);
    train(net, opt);
    return copies(net->parameters());
  });
}

TEST(TorchState, ModelsThatDifferAreNamed) {
  const std::string shapes = failure(3, [] {
    torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::Linear(4, hvd::rank() == 2 ? 6 : 5));
    hvd::broadcast(net);
  });
  EXPECT_NE(shapes.find("the model of rank 2 has '1.weight [6, 4]' where rank 0 has '1.weight [5, 4]'"), std::string::npos) << shapes;
  const std::string names = failure(2, [] {
    torch::nn::Sequential net{torch::nn::Linear(3, 4)};
    if (hvd::rank() == 1) net->push_back(torch::nn::Linear(4, 4));
    hvd::broadcast(net);
  });
  EXPECT_NE(names.find("where rank 0 has 'nothing'"), std::string::npos) << names;
}

TEST(TorchState, WhateverHoldsThem) {
  hvd::testing::spawn(2, [] {
    auto shared = std::make_shared<NetImpl>();
    torch::nn::AnyModule any(torch::nn::Linear(2, 2));
    std::vector<torch::nn::Linear> several = {torch::nn::Linear(2, 2), torch::nn::Linear(2, 3)};
    NetImpl plain;
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    optimizers.push_back(std::make_unique<SGD>(shared->parameters(), SGDOptions(0.1)));
    hvd::broadcast(shared, any, several, plain, optimizers);
    // A sum over ranks that all hold the same is a multiple.
    for (const at::Tensor& t : {any.ptr()->parameters()[0], several[1]->weight, plain.a->bias, shared->b->weight}) {
      at::Tensor sum = t.detach().clone();
      hvd::all_reduce_sum(sum);
      EXPECT_LE(difference(sum, 2 * t), 1e-6);
    }
  });
}

TEST(TorchState, BuffersAreAveragedBySamples) {
  hvd::testing::spawn(2, [] {
    torch::nn::Sequential net(torch::nn::Linear(6, 3), torch::nn::BatchNorm1d(3));
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(5, 0).to(at::kFloat));  // 2 rows and 3
      hvd::weighted(net->forward(x).square().mean(), hvd::LossKind::mean).backward();
    }
    auto buffers = net->named_buffers();
    const at::NoGradGuard no_grad;
    buffers["1.running_mean"].fill_(hvd::rank() == 0 ? 1 : 2);
    buffers["1.num_batches_tracked"].fill_(hvd::rank() == 0 ? 7 : 9);
    hvd::sync_buffers(net);
    EXPECT_NEAR(buffers["1.running_mean"][0].item<double>(), 0.4 * 1 + 0.6 * 2, 1e-6);
    EXPECT_EQ(buffers["1.num_batches_tracked"].item<std::int64_t>(), 7);
    buffers["1.running_mean"].fill_(hvd::rank());
    hvd::sync_buffers(net);  // nobody has trained since
    EXPECT_EQ(buffers["1.running_mean"][0].item<double>(), hvd::rank());
  });
}

}  // namespace
}  // namespace state_test
}  // namespace hvd::test
