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

}  // namespace
}  // namespace server_test
