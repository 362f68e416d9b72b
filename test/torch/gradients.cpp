// SPDX-License-Identifier: Apache-2.0
//
// Weights, sums over ranks and overlap: what a program's loop may do between its steps.
#include <sstream>

#include "dist/rank.hpp"
#include "state.hpp"
#include "support.hpp"

namespace hvd::test {
namespace gradients_test {
namespace {

using torch::optim::SGD;
using torch::optim::SGDOptions;
namespace F = torch::nn::functional;

// Whoever looks at a call alone, as hvdize does at what it has written, sees whether it is possible: by pointers and handles of any
// depth, and not with what holds no model.
template <class Void, class... Things>
constexpr bool broadcasts = false;
template <class... Things>
constexpr bool broadcasts<std::void_t<decltype(hvd::broadcast(std::declval<Things&>()...))>, Things...> = true;
static_assert(broadcasts<void, Net, Net*, std::unique_ptr<Net>, std::vector<Net*>, std::vector<at::Tensor>, SGD, std::unique_ptr<SGD>, at::Tensor, torch::nn::AnyModule>);
static_assert(!broadcasts<void, int> && !broadcasts<void, std::vector<int>> && !broadcasts<void, Net, int*> && !broadcasts<void, const at::Tensor>);
template <class Void, class Model, class Optimizer>
constexpr bool overlaps = false;
template <class Model, class Optimizer>
constexpr bool overlaps<std::void_t<decltype(hvd::overlap(std::declval<Model&>(), std::declval<Optimizer&>()))>, Model, Optimizer> = true;
static_assert(overlaps<void, Net*, SGD> && overlaps<void, std::unique_ptr<Net>, std::unique_ptr<SGD>> && overlaps<void, torch::nn::AnyModule, SGD>);
static_assert(!overlaps<void, SGD*, Net*> && !overlaps<void, Net, int>);

SGDOptions momentum() { return SGDOptions(0.05).momentum(0.9); }

std::vector<at::Tensor> state_of(const torch::nn::Module& net) { return copies(net.parameters()); }

// How many gradients the last backward has sent before the reduction asked for them; -1 alone.
std::int64_t sent_by_hooks(torch::optim::Optimizer& opt) {
  dist::Rank* rank = dist::this_rank();
  return rank && rank->size() > 1 ? static_cast<std::int64_t>(torch_binding::binding_of(*rank, opt).sent_by_hooks()) : -1;
}

class Overlap : public ::testing::TestWithParam<bool> {
 protected:
  template <class Model, class Optimizer>
  static void start(Model& net, Optimizer& opt) {
    hvd::broadcast(net, opt);
    if (GetParam()) hvd::overlap(net, opt);
  }
};
INSTANTIATE_TEST_SUITE_P(Torch, Overlap, ::testing::Bool(), [](const auto& info) { return info.param ? "overlapped" : "plain"; });

TEST_P(Overlap, MeanLossOnUnevenSlices) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), momentum());
    start(net, opt);
    train(net, opt);
    return state_of(*net);
  });
}

TEST_P(Overlap, SmallBucketsAndClipping) {
  expect_as_alone([] {
    if (dist::Rank* rank = dist::this_rank()) rank->settings.bucket_bytes = 64;
    Net net;
    SGD opt(net->parameters(), momentum());
    start(net, opt);
    for (int step = 0; step < 4; ++step) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(7, step)), y = hvd::shard(labels(7, step));
      opt.zero_grad();
      hvd::weighted(F::cross_entropy(net->forward(x), y), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      torch::nn::utils::clip_grad_norm_(net->parameters(), 0.1);
      opt.step();
    }
    return state_of(*net);
  });
}

TEST_P(Overlap, HooksSurviveALoad) {
  std::stringstream file;
  {
    Net other;
    fill(*other, 5);
    torch::save(other, file);
  }
  const std::string text = file.str();
  expect_as_alone([&] {
    Net net;
    SGD opt(net->parameters(), momentum());
    start(net, opt);
    train(net, opt);
    std::istringstream in(text);
    torch::load(net, in);
    train(net, opt);
    if (hvd::size() == 2 && GetParam()) {
      EXPECT_GT(sent_by_hooks(opt), 0);
    }
    return state_of(*net);
  });
}

TEST_P(Overlap, HooksSurviveAnotherType) {
  expect_as_alone([] {
    Net net;
    net->to(torch::kFloat);
    SGD opt(net->parameters(), SGDOptions(0.05));
    start(net, opt);
    train(net, opt, [&](int step) {
      if (step != 2) return;
      opt.zero_grad();
      for (at::Tensor& p : net->parameters()) p.mutable_grad() = at::Tensor();
      net->to(torch::kDouble);
    });
    if (hvd::size() == 2 && GetParam()) {
      EXPECT_GT(sent_by_hooks(opt), 0);
    }
    return state_of(*net);
  }, 1e-6);
}

TEST_P(Overlap, FrozenAndThawed) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.05).weight_decay(0.01));
    net->a->weight.requires_grad_(false);
    start(net, opt);
    train(net, opt, [&](int step) {
      if (step == 2) net->b->bias.requires_grad_(false);
      if (step == 4) net->a->weight.requires_grad_(true);
      if (step == 5) net->b->bias.requires_grad_(true);
    });
    return state_of(*net);
  });
}

TEST_P(Overlap, DataOfAnotherShape) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.05));
    start(net, opt);
    train(net, opt, [&](int step) {
      if (step != 3) return;
      for (torch::nn::Linear* layer : {&net->a, &net->b}) {
        (*layer)->weight.mutable_grad() = at::Tensor();
        (*layer)->bias.mutable_grad() = at::Tensor();
      }
      net->a->weight.set_data(0.3 * numbers({9, 6}, 1));
      net->a->bias.set_data(numbers({9}, 2));
      net->b->weight.set_data(0.3 * numbers({3, 9}, 3));
    });
    return state_of(*net);
  });
}

TEST_P(Overlap, ParametersReplacedAndAdded) {
  expect_as_alone([] {
    Net net;
    SGD opt({net->a->weight, net->a->bias}, SGDOptions(0.05));
    start(net, opt);
    train(net, opt, [&](int step) {
      if (step == 2) opt.add_param_group({{net->b->weight}});
      if (step == 4) opt.param_groups()[0].params() = {net->a->bias, net->b->bias};
    });
    return state_of(*net);
  });
}

TEST_P(Overlap, GradientsThatAreNotZeroedAddUp) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.01));
    start(net, opt);
    for (int step = 0; step < 5; ++step) {
      hvd::StepScope scope;
      const std::int64_t rows = kBatches[static_cast<std::size_t>(step)];
      const at::Tensor x = hvd::shard(inputs(rows, step)), y = hvd::shard(labels(rows, step));
      hvd::weighted(F::cross_entropy(net->forward(x), y), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return state_of(*net);
  });
}

TEST_P(Overlap, GradientsDroppedInsteadOfZeroed) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), momentum());
    start(net, opt);
    train(net, opt, [&](int) {
      for (at::Tensor& p : net->parameters()) p.mutable_grad() = at::Tensor();
    });
    return state_of(*net);
  });
}

TEST(TorchGradients, SumAndCountedLosses) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.01));
    hvd::broadcast(net, opt);
    int step = 0;
    for (const std::int64_t rows : kBatches) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(rows, step)), y = hvd::shard(labels(rows, step));
      opt.zero_grad();
      hvd::weighted(F::cross_entropy(net->forward(x), y, F::CrossEntropyFuncOptions().reduction(torch::kSum)), hvd::LossKind::sum).backward();
      const auto counted = F::CrossEntropyFuncOptions().ignore_index(1).weight(numbers({3}, 2).abs() + 0.5);
      if (rows > 4)
        hvd::weighted(F::cross_entropy(net->forward(x), y, counted), hvd::LossKind::counted(hvd::counted_terms(y, counted))).backward();
      hvd::reduce_gradients(opt);
      opt.step();
      ++step;
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, SeveralBackwardsAndAccumulation) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.02));
    hvd::broadcast(net, opt);
    opt.zero_grad();
    for (int step = 0; step < 6; ++step) {
      hvd::StepScope scope;
      const std::int64_t rows = kBatches[static_cast<std::size_t>(step)];
      const at::Tensor x = hvd::shard(inputs(rows, step)), y = hvd::shard(labels(rows, step));
      const at::Tensor out = net->forward(x);
      hvd::weighted(F::cross_entropy(out, y), hvd::LossKind::mean).backward({}, /*retain_graph=*/true);
      hvd::weighted(out.square().mean() * 0.1, hvd::LossKind::mean).backward();
      if (step % 2 == 0) continue;
      hvd::reduce_gradients(opt);
      opt.step();
      opt.zero_grad();
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, TwoModelsTwoOptimizers) {
  expect_as_alone([] {
    torch::nn::Linear generator(4, 6), critic(6, 1);
    for (torch::nn::Linear* layer : {&generator, &critic}) {
      (*layer)->to(torch::kDouble);
      fill(**layer);
    }
    SGD opt_g(generator->parameters(), momentum());
    torch::optim::Adam opt_c(critic->parameters(), torch::optim::AdamOptions(0.01));
    hvd::broadcast(generator, opt_g);
    hvd::broadcast(critic, opt_c);
    for (int step = 0; step < 5; ++step) {
      hvd::StepScope scope;
      const std::int64_t rows = kBatches[static_cast<std::size_t>(step)];
      const at::Tensor real = hvd::shard(inputs(rows, step)), noise = hvd::shard(inputs(rows, step + 50, 4));
      critic->zero_grad();
      hvd::weighted(critic(real).sigmoid().mean(), hvd::LossKind::mean).backward();
      const at::Tensor fake = generator(noise).tanh();
      hvd::weighted((1 - critic(fake.detach()).sigmoid()).mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt_c);
      opt_c.step();
      generator->zero_grad();
      hvd::weighted(-critic(fake).sigmoid().mean(), hvd::LossKind::mean).backward();  // reaches the critic's gradients too
      hvd::reduce_gradients(opt_g);
      opt_g.step();
    }
    std::vector<at::Tensor> all = state_of(*generator);
    for (const at::Tensor& t : state_of(*critic)) all.push_back(t);
    return all;
  });
}

TEST(TorchGradients, TwoOptimizersOverTheSameParameters) {
  expect_as_alone([] {
    Net net;
    SGD all(net->parameters(), SGDOptions(0.02));
    SGD some(net->b->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, all);
    hvd::broadcast(some);
    for (int step = 0; step < 4; ++step) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(5, step)), y = hvd::shard(labels(5, step));
      all.zero_grad();
      hvd::weighted(F::cross_entropy(net->forward(x), y), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(all);
      all.step();
      hvd::reduce_gradients(some);
      some.step();
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, GradientPenalty) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.02));
    hvd::broadcast(net, opt);
    for (int step = 0; step < 4; ++step) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(5, step)).clone().requires_grad_(true);
      opt.zero_grad();
      const at::Tensor out = net->forward(x).sum();
      const at::Tensor slope = torch::autograd::grad({out}, {x}, {}, c10::nullopt, /*create_graph=*/true)[0];
      hvd::weighted((slope.norm(2, 1) - 1).square().mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, UnusedParametersStayWithoutGradientAndAreNamed) {
  ::testing::internal::CaptureStderr();
  hvd::testing::spawn(3, [] {
    Net net;
    torch::nn::Linear spare(2, 2);
    spare->to(torch::kDouble);
    torch::nn::ModuleDict both;
    const std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> parts = {{"net", net.ptr()}, {"spare", spare.ptr()}};
    both->update(parts);
    SGD opt(both->parameters(), SGDOptions(0.1));
    hvd::broadcast(both, opt);
    hvd::overlap(both, opt);
    train(net, opt);
    EXPECT_FALSE(spare->weight.grad().defined());
    EXPECT_TRUE(net->a->weight.grad().defined());
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("hvd: warning: no rank has a gradient for 'spare.weight', 'spare.bias'"), std::string::npos) << said;
  EXPECT_EQ(said.find("warning", said.find("warning") + 1), std::string::npos) << said;  // once
}

TEST(TorchGradients, UsedOnSomeRanksOnly) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), momentum());
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    for (int step = 0; step < 4; ++step) {
      hvd::StepScope scope;
      // The second layer sees only rows whose first number is positive: on some ranks none.
      const at::Tensor x = hvd::shard(at::arange(6, at::kDouble).unsqueeze(1).expand({6, 6}) - 3.5);
      opt.zero_grad();
      const at::Tensor hidden = net->a->forward(x).tanh();
      at::Tensor loss = hidden.square().sum();
      if (x[x.size(0) - 1][0].item<double>() > 0) {
        const at::Tensor rows = at::nonzero(x.select(1, 0) > 0).squeeze(1);
        loss = loss + net->b->forward(hidden.index_select(0, rows)).square().sum();
      }
      hvd::weighted(loss, hvd::LossKind::sum).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, SparseGradientsBecomeDense) {
  ::testing::internal::CaptureStderr();
  expect_as_alone([] {
    torch::nn::Embedding words(torch::nn::EmbeddingOptions(10, 3).sparse(true));
    words->to(torch::kDouble);
    fill(*words);
    SGD opt(words->parameters(), SGDOptions(0.1));
    hvd::broadcast(words, opt);
    hvd::overlap(words, opt);
    int step = 0;
    for (const std::int64_t rows : kBatches) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard((at::arange(rows, at::kLong) * 3 + step++) % 10);
      opt.zero_grad();
      hvd::weighted(words(x).square().mean(), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      if (hvd::size() > 1) {
        EXPECT_FALSE(words->weight.grad().is_sparse());
      }
      opt.step();
    }
    return state_of(*words);
  }, 1e-10, {3});
  const std::string said = ::testing::internal::GetCapturedStderr();
  const std::string note = "hvd: note: sparse gradients become dense";
  EXPECT_NE(said.find(note), std::string::npos) << said;
  EXPECT_EQ(said.find(note, said.find(note) + 1), std::string::npos) << said;
}

TEST(TorchGradients, FillerSelectsZero) {
  expect_as_alone([] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    for (const std::int64_t rows : {5, 1, 2}) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(inputs(rows, 1)), y = hvd::shard(labels(rows, 1));
      const Slice* slice = hvd::detail::in_sharded_step() ? hvd::current_slice() : nullptr;
      const at::Tensor poisoned = slice && slice->filler ? x * std::numeric_limits<double>::quiet_NaN() : x;
      opt.zero_grad();
      hvd::weighted(F::cross_entropy(net->forward(poisoned), y), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
    return state_of(*net);
  });
}

TEST(TorchGradients, RanksThatDifferAreNamed) {
  const std::string said = failure(2, [] {
    torch::nn::Linear net(4, 2 + hvd::rank());
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::weighted(net(at::ones({1, 4})).sum(), hvd::LossKind::sum).backward();
    hvd::reduce_gradients(opt);
  });
  EXPECT_NE(said.find("gradient 0 is 'parameter 0' with 12"), std::string::npos) << said;
}

TEST(TorchGradients, AGradientTwiceUnderOverlapIsAnError) {
  const std::string said = failure(2, [] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(4, 0));
    for (int i = 0; i < 2; ++i) hvd::weighted(net->forward(x).mean(), hvd::LossKind::mean).backward();
  });
  EXPECT_NE(said.find("arrives twice before reduce_gradients"), std::string::npos) << said;
}

}  // namespace
}  // namespace gradients_test
}  // namespace hvd::test
