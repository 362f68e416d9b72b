// SPDX-License-Identifier: Apache-2.0
//
// Losses that compare every sample with every other by a slip of shapes: said in the first step, and nothing else is.
#include "support.hpp"

namespace hvd::test {
namespace loss_pairs_test {
namespace {

namespace F = torch::nn::functional;
using torch::optim::SGD;
using torch::optim::SGDOptions;

// What `failure` says of a job without one.
const std::string kNone = "no exception";

// One step on 8 rows over two ranks; what the job said when it ended.
template <class Loss>
std::string step_with(Loss loss_of, std::int64_t outputs = 1) {
  return failure(2, [&] {
    torch::nn::Linear net(3, outputs);
    fill(*net);
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(numbers({8, 3}, 1, at::kFloat)), y = hvd::shard(numbers({8}, 2, at::kFloat));
    hvd::weighted(loss_of(net->forward(x), y), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
  });
}

TEST(TorchLossPairs, ColumnsAgainstRowsAreSaid) {
  const std::string mean = step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::mse_loss(out, y); });
  EXPECT_NE(mean.find("HVD4002: mse_loss compares [4, 1] with [4]"), std::string::npos) << mean;
  const std::string scaled = step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::smooth_l1_loss(out, y) * 2.0 + out.abs().mean(); });
  EXPECT_NE(scaled.find("HVD4002: smooth_l1_loss"), std::string::npos) << scaled;
  const std::string expanded = step_with([](const at::Tensor& out, const at::Tensor& y) { return F::mse_loss(out, y); });
  EXPECT_NE(expanded.find("HVD4002: mse_loss compares [4, 4] with [4, 4]"), std::string::npos) << expanded;
}

TEST(TorchLossPairs, OrdinaryShapesAreNot) {
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::mse_loss(out, y.unsqueeze(1)); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::mse_loss(out.squeeze(1), y); }), kNone);
  // Four outputs of each of four rows against one value for each output, or for each row.
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor&) { return torch::mse_loss(out, torch::ones({4})); }, 4), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return F::mse_loss(out, y.unsqueeze(1)); }, 4), kNone);
}

}  // namespace
}  // namespace loss_pairs_test
}  // namespace hvd::test
