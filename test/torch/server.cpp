// SPDX-License-Identifier: Apache-2.0

// HVD_SYNC=parameter-server with LibTorch's optimizers.

#include "support.hpp"

#include "dist/rank.hpp"

namespace server_test {
namespace {

using namespace hvd::test;

std::vector<std::vector<at::Tensor>> ends(int ranks, bool server, bool overlap, bool adam) {
  std::vector<std::vector<at::Tensor>> all(static_cast<std::size_t>(ranks));
  hvd::testing::spawn(ranks, [&] {
    hvd::dist::this_rank()->settings.server = server;
    Net net;
    std::unique_ptr<torch::optim::Optimizer> opt;
    if (adam) opt = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(0.02));
    else opt = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
    hvd::broadcast(net, *opt);
    if (overlap) hvd::overlap(net, *opt);
    train(net, *opt);
    all[static_cast<std::size_t>(hvd::rank())] = copies(net->parameters());
  });
  return all;
}

TEST(TorchServer, IsEveryStepOnOneRankFewer) {
  for (const bool adam : {false, true})
    for (const bool overlap : {false, true})
      for (const int ranks : {2, 3, 5}) {
        const auto with = ends(ranks, true, overlap, adam), without = ends(ranks - 1, false, overlap, adam);
        for (std::size_t i = 0; i < without[0].size(); ++i) {
          EXPECT_LE(difference(with[0][i], without[0][i]), 1e-10) << "tensor " << i << " on " << ranks << " ranks";
          for (std::size_t r = 1; r < with.size(); ++r) EXPECT_TRUE(at::equal(with[r][i], with[0][i])) << "rank " << r;
        }
      }
}

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(std::size_t i) override { return {inputs(1, static_cast<int>(i))[0], labels(1, static_cast<int>(i))[0]}; }
  torch::optional<std::size_t> size() const override { return 29; }
};

struct Loop {
  std::int64_t staleness = -1;
  bool overlap = false, adam = false, check = false;
};

// Three epochs over a loader; after each, what every rank has.
std::vector<std::vector<at::Tensor>> epochs(int ranks, bool server, const Loop& run) {
  namespace td = torch::data;
  std::vector<std::vector<at::Tensor>> all(static_cast<std::size_t>(ranks));
  hvd::testing::spawn(ranks, [&] {
    hvd::dist::Rank& rank = *hvd::dist::this_rank();
    rank.settings.server = server;
    rank.settings.staleness = run.staleness;
    if (run.check) rank.begin_check();
    Net net;
    std::unique_ptr<torch::optim::Optimizer> opt;
    if (run.adam) opt = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(0.02));
    else opt = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01));
    hvd::broadcast(net, *opt);
    if (run.overlap) hvd::overlap(net, *opt);
    auto loader = td::make_data_loader(Rows().map(td::transforms::Stack<>()), hvd::Sharded<td::samplers::SequentialSampler>(29), td::DataLoaderOptions(4));
    std::vector<at::Tensor>& mine = all[static_cast<std::size_t>(hvd::rank())];
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (auto& batch : hvd::steps(loader)) {
        opt->zero_grad();
        hvd::weighted(torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target), hvd::LossKind::mean).backward();
        hvd::reduce_gradients(*opt);
        torch::nn::utils::clip_grad_norm_(net->parameters(), 0.7);
        opt->step();
      }
      for (const at::Tensor& p : copies(net->parameters())) mine.push_back(p);
    }
  });
  return all;
}

TEST(TorchServerAsync, WithoutStalenessIsTheSynchronousOne) {
  for (const Loop& run : {Loop{0}, Loop{0, true}, Loop{0, false, true}, Loop{0, false, false, true}})
    for (const int ranks : {2, 4}) {
      Loop waits = run;
      waits.staleness = -1;
      const auto with = epochs(ranks, true, run), without = epochs(ranks, true, waits), fewer = epochs(ranks - 1, false, waits);
      for (std::size_t i = 0; i < without[0].size(); ++i) {
        EXPECT_LE(difference(with[0][i], without[0][i]), 1e-12) << "tensor " << i << " on " << ranks << " ranks";
        EXPECT_LE(difference(with[0][i], fewer[0][i]), 1e-10) << "tensor " << i << " on " << ranks << " ranks";
      }
    }
}

TEST(TorchServerAsync, EndsEpochsInOneState) {
  for (const Loop& run : {Loop{1}, Loop{3, true}, Loop{50, false, true}, Loop{2, false, false, true}}) {
    const auto with = epochs(4, true, run);
    for (std::size_t r = 1; r < with.size(); ++r)
      for (std::size_t i = 0; i < with[0].size(); ++i) EXPECT_TRUE(at::equal(with[r][i], with[0][i])) << "rank " << r << ", tensor " << i;
  }
}

}  // namespace
}  // namespace server_test
