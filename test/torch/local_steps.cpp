// SPDX-License-Identifier: Apache-2.0

// HVD_SYNC=periodic:K with LibTorch's optimizers.

#include <sstream>

#include "support.hpp"

#include "dist/rank.hpp"

namespace local_steps_test {
namespace {

using namespace hvd::test;
namespace optim = torch::optim;
namespace td = torch::data;

struct Rows : td::Dataset<Rows> {
  explicit Rows(std::size_t n) : n(n) {}
  td::Example<> get(std::size_t i) override {
    return {numbers({5}, 0.3 * static_cast<double>(i)), torch::tensor(static_cast<std::int64_t>(i * i % 3))};
  }
  c10::optional<std::size_t> size() const override { return n; }
  std::size_t n;
};

// `node`: ranks of one, over which the period is; 0: there are none.
void every(std::int64_t period, std::int64_t after = 0, int node = 0) {
  hvd::dist::Rank* rank = hvd::dist::this_rank();
  if (!rank) return;
  rank->settings.hierarchical = node > 0;
  rank->settings.node_ranks = node;
  if (node > 0 && rank->size() > 1) { EXPECT_EQ(rank->open_node(), ""); }
  rank->settings.period = period;
  rank->settings.local_after = after;
  rank->local_phase = period > 0 && after == 0 && node == 0;
}

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(std::vector<at::Tensor>)>;

std::unique_ptr<optim::Optimizer> sgd(std::vector<at::Tensor> parameters) {
  return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions(0.2).momentum(0.9).weight_decay(0.01));
}

// Two epochs of 13 samples in batches of 3: the last batch leaves ranks without a sample.
Program training(const MakeOptimizer& make, std::int64_t period, std::int64_t after = 0, bool overlap = false, int node = 0) {
  return [=] {
    every(period, after, node);
    torch::nn::Linear net(5, 3);
    net->to(at::kDouble);
    fill(*net);
    const auto optimizer = make(net->parameters());
    hvd::broadcast(*net, *optimizer);
    if (overlap) hvd::overlap(*net, *optimizer);
    auto loader = td::make_data_loader(Rows(13).map(td::transforms::Stack<>()),
                                       hvd::Sharded<td::samplers::SequentialSampler>(13), td::DataLoaderOptions(3));
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto& batch : hvd::steps(loader)) {
        optimizer->zero_grad();
        hvd::weighted(torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(*optimizer);
        optimizer->step();
      }
    }
    // One more step that is the same everywhere shows whether the optimizers' state is.
    for (at::Tensor& p : net->parameters()) p.mutable_grad() = at::ones_like(p.detach());
    optimizer->step();
    return copies(net->parameters());
  };
}

TEST(TorchLocalSteps, APeriodOfOneIsTheSequentialProgram) {
  expect_as_alone(training(sgd, 1));
  expect_as_alone(training(sgd, 1, 3, true));  // after three common steps, with overlap
}

TEST(TorchLocalSteps, NodesComeTogether) {
  for (const bool overlap : {false, true}) {
    for (const int node : {1, 2, 3}) expect_as_alone(training(sgd, 1, 0, overlap, node), 1e-10, {1, 2, 3, 5});  // a mean after every step
    expect_as_alone(training(sgd, 100, 0, overlap, 5), 1e-10, {2, 3, 5});  // one node
  }
  // With a period nodes are apart: else nothing has been put off.
  std::vector<std::vector<at::Tensor>> ends(4);
  hvd::testing::spawn(4, [&] { ends[static_cast<std::size_t>(hvd::rank())] = training(sgd, 100, 0, false, 2)(); });
  const auto alone = training(sgd, 0)();
  EXPECT_GT(difference(ends[0][0], alone[0]), 1e-4);
  for (const auto& end : ends)
    for (std::size_t i = 0; i < end.size(); ++i) EXPECT_TRUE(end[i].equal(ends[0][i]));
}

TEST(TorchLocalSteps, NoLocalStepIsEveryStep) { expect_as_alone(training(sgd, 4, 100)); }

// Where periods are long the replicas go apart; at the end of the epoch they are one again, the optimizers' state with them.
TEST(TorchLocalSteps, ReplicasAreOneAtTheEnd) {
  const std::vector<MakeOptimizer> makers = {
      sgd,
      [](auto p) { return std::make_unique<optim::Adam>(std::move(p), optim::AdamOptions(0.02).amsgrad(true)); },
      [](auto p) { return std::make_unique<optim::AdamW>(std::move(p), optim::AdamWOptions(0.02)); },
      [](auto p) { return std::make_unique<optim::RMSprop>(std::move(p), optim::RMSpropOptions(0.02).momentum(0.5).centered(true)); },
      [](auto p) { return std::make_unique<optim::Adagrad>(std::move(p), optim::AdagradOptions(0.1)); },
  };
  for (const MakeOptimizer& make : makers) {
    const auto alone = training(make, 0)();
    std::vector<std::vector<at::Tensor>> ends(3);
    hvd::testing::spawn(3, [&] { ends[static_cast<std::size_t>(hvd::rank())] = training(make, 3)(); });
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_TRUE(at::equal(ends[1][i], ends[0][i]) && at::equal(ends[2][i], ends[0][i]));
      EXPECT_GT(difference(ends[0][i], alone[i]), 1e-6);  // local steps are not those of the whole batch
    }
  }
}

// A slice without rows steps with zeros: of the parameters that the loss depends on, as on the ranks that have rows.
TEST(TorchLocalSteps, UnusedParametersStayUntouchedOnRanksWithoutRows) {
  for (const bool adam : {true, false}) {
    std::vector<std::vector<at::Tensor>> ends(4);
    hvd::testing::spawn(4, [&] {
      every(2);
      torch::nn::Linear net(5, 3), idle(2, 2);
      torch::nn::ModuleList both(net, idle);
      both->to(at::kDouble);
      fill(*both);
      std::unique_ptr<optim::Optimizer> optimizer;
      if (adam) optimizer = std::make_unique<optim::Adam>(both->parameters(), optim::AdamOptions(0.02).weight_decay(0.1));
      else optimizer = sgd(both->parameters());
      hvd::broadcast(*both, *optimizer);
      auto loader = td::make_data_loader(Rows(13).map(td::transforms::Stack<>()), hvd::Sharded<td::samplers::SequentialSampler>(13), td::DataLoaderOptions(3));
      for (auto& batch : hvd::steps(loader)) {
        optimizer->zero_grad();
        hvd::weighted(torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(*optimizer);
        optimizer->step();
      }
      ends[static_cast<std::size_t>(hvd::rank())] = copies(both->parameters());
    });
    torch::nn::Linear net(5, 3), idle(2, 2);
    torch::nn::ModuleList both(net, idle);
    both->to(at::kDouble);
    fill(*both);
    const std::vector<at::Tensor> begin = both->parameters();
    for (const auto& end : ends) {
      for (std::size_t i = 0; i < begin.size(); ++i) EXPECT_TRUE(at::equal(end[i], ends[0][i])) << i;
      for (const std::size_t i : {2u, 3u}) EXPECT_LE(difference(end[i], begin[i]), 1e-14) << i;  // a mean of equal numbers is rounded
      EXPECT_FALSE(at::equal(end[0], begin[0]));
    }
  }
}

struct Unknown : optim::OptimizerCloneableParamState<Unknown> {
  void serialize(torch::serialize::InputArchive&) override {}
  void serialize(torch::serialize::OutputArchive&) const override {}
};

// The state of a parameter in the optimizer's map, whose keys are text before LibTorch 2.
template <class States>
auto& state_of(States& states, const at::Tensor& p) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    std::ostringstream place;
    place << p.unsafeGetTensorImpl();
    return states[place.str()];
  } else return states[p.unsafeGetTensorImpl()];
}

TEST(TorchLocalSteps, StateOfAnUnknownKindIsRefused) {
  std::string what;
  try {
    hvd::testing::spawn(2, [&] {
      every(1);
      torch::nn::Linear net(5, 3);
      const auto optimizer = sgd(net->parameters());
      hvd::broadcast(*net, *optimizer);
      auto loader = td::make_data_loader(Rows(6).map(td::transforms::Stack<>()),
                                         hvd::Sharded<td::samplers::SequentialSampler>(6), td::DataLoaderOptions(3));
      for (auto& batch : hvd::steps(loader)) {
        hvd::weighted(net->forward(batch.data.to(at::kFloat)).sum(), hvd::LossKind::sum).backward();
        hvd::reduce_gradients(*optimizer);
        for (const at::Tensor& p : net->parameters()) state_of(optimizer->state(), p) = std::make_unique<Unknown>();
      }
    });
  } catch (const std::exception& e) {
    what = e.what();
  }
  EXPECT_NE(what.find("HVD_SYNC=step"), std::string::npos) << what;
}

}  // namespace
}  // namespace local_steps_test
