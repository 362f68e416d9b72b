// SPDX-License-Identifier: Apache-2.0

// HVD_CHECK on LibTorch programs.

#include <cmath>

#include "support.hpp"

#include "dist/rank.hpp"

namespace check_test {
namespace {

using namespace hvd::test;

// What a training run ends with in which `before(step, net)` does what one rank does wrong.
std::string training(int ranks, const std::function<void(int, Net&)>& before, bool overlap, std::int64_t period = 0) {
  return failure(ranks, [&] {
    hvd::dist::Rank& rank = *hvd::dist::this_rank();
    rank.begin_check();
    rank.settings.period = period;
    rank.local_phase = period > 0;
    Net net;
    torch::optim::SGD opt(net->parameters(), 0.1);
    hvd::broadcast(net, opt);
    if (overlap) hvd::overlap(net, opt);
    train(net, opt, [&](int step) { before(step, net); });
  });
}

const auto nothing = [](int, Net&) {};
const auto differ = [](int step, Net& net) {
  const at::NoGradGuard no_grad;
  if (step == 2 && hvd::rank() == 1) net->b->weight.add_(1e-9);
};
const auto spoil = [](int step, Net& net) {
  const at::NoGradGuard no_grad;
  if (step == 1 && hvd::rank() == 2) net->a->bias.register_hook([](at::Tensor g) { return g * std::nan(""); });
};

TEST(TorchCheck, GoodProgramsPass) {
  for (const bool overlap : {false, true}) EXPECT_EQ(training(3, nothing, overlap), "no exception");
  EXPECT_EQ(training(3, nothing, false, 1), "no exception");
}

TEST(TorchCheck, AParameterThatDiffersIsNamed) {
  for (const bool overlap : {false, true}) {
    const std::string what = training(3, differ, overlap);
    EXPECT_NE(what.find("HVD_CHECK: 'b.weight' of rank 1 is not that of rank 0 (support.hpp:"), std::string::npos) << what;
    EXPECT_NE(what.find("batch 3, step 3)"), std::string::npos) << what;
  }
}

TEST(TorchCheck, NaNIsNamedWithTensorAndRank) {
  for (const bool overlap : {false, true}) {
    const std::string what = training(3, spoil, overlap);
    EXPECT_NE(what.find("HVD_CHECK: on rank 2 'a.bias' (gradients) is NaN at element 0 of 5 ("), std::string::npos) << what;
    EXPECT_NE(what.find("batch 2"), std::string::npos) << what;
  }
  const std::string local = training(3, spoil, false, 1);
  EXPECT_NE(local.find("HVD_CHECK: on rank 2 'parameter 1' (gradients) is NaN at element 0 of 5 (batch 2, step 2)"), std::string::npos) << local;
}

}  // namespace
}  // namespace check_test
