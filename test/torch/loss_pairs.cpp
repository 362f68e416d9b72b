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

TEST(TorchLossPairs, DifferencesWrittenOutAreSaid) {
  const std::string column = step_with([](const at::Tensor& out, const at::Tensor& y) { return (out - y).pow(2).mean(); });
  EXPECT_NE(column.find("HVD4002: the loss combines a tensor of shape [4, 1] with one that makes it [4, 4]"), std::string::npos) << column;
  const std::string row = step_with([](const at::Tensor& out, const at::Tensor& y) { return 0.5 * (y.unsqueeze(1) - out.squeeze(1)).abs().sum() / 4; });
  EXPECT_NE(row.find("HVD4002: the loss combines a tensor of shape [4] with one"), std::string::npos) << row;
  const std::string flat = step_with([](const at::Tensor& out, const at::Tensor& y) { return (y - out).view(-1).pow(2).sum() / 4; });
  EXPECT_NE(flat.find("HVD4002"), std::string::npos) << flat;
  const std::string by_function = step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::l1_loss(out, y); });
  EXPECT_NE(by_function.find("HVD4002"), std::string::npos) << by_function;
}

TEST(TorchLossPairs, OrdinaryShapesAreNot) {
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::mse_loss(out, y.unsqueeze(1)); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return torch::mse_loss(out.squeeze(1), y); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return (out.squeeze(1) - y).pow(2).mean(); }), kNone);
  // What happens inside the network is no matter of the loss: a table of all pairs of four positions, say.
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor&) { return (out - out.t()).matmul(torch::ones({4, 2})).mean(); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return (out - y.unsqueeze(1)).pow(2).mean(); }, 4), kNone);
  // Four outputs of each of four rows against one value for each output, or for each row.
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor&) { return torch::mse_loss(out, torch::ones({4})); }, 4), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return F::mse_loss(out, y.unsqueeze(1)); }, 4), kNone);
  // As many features as rows: a learned scale for each of them, a weight for each row.
  const auto scale = torch::ones({4}).requires_grad_();
  EXPECT_EQ(step_with([&](const at::Tensor& out, const at::Tensor&) { return (out / (scale + scale).exp()).pow(2).mean(); }, 4), kNone);
  EXPECT_EQ(step_with([&](const at::Tensor& out, const at::Tensor&) { return (out * scale.exp()).mean(); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor& y) { return (out * y.unsqueeze(1).expand({4, 4}).contiguous()).mean(); }), kNone);
  EXPECT_EQ(step_with([](const at::Tensor& out, const at::Tensor&) { return (out.softmax(1).slice(1, 0, 1) * out).mean(); }, 4), kNone);
}

}  // namespace
}  // namespace loss_pairs_test
}  // namespace hvd::test
