// SPDX-License-Identifier: Apache-2.0
// Losses that combine every sample with every other by a slip of shapes: said in the first steps, and nothing else is.
#include <gtest/gtest.h>

#include <string>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>

#include "dist_support.hpp"

namespace dist_loss_pairs_test {
namespace {

using hvd::Tensor;
using hvd::test::failure;

// What `failure` says of a job without one.
const std::string kNone = "no exception";

// One step on 8 rows over two ranks; what the job said when it ended.
template <class Loss>
std::string step_with(Loss loss_of, int64_t outputs = 1) {
  return failure(2, [&] {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(1);
    hvd::nn::Linear net(3, outputs);
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    hvd::broadcast(net, opt);
    const Tensor all_x = hvd::randn({8, 3}), all_y = hvd::randn({8});
    hvd::StepScope scope;
    const Tensor x = hvd::shard(all_x), y = hvd::shard(all_y);
    hvd::weighted(loss_of(net->forward(x), y), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
  });
}

TEST(LossPairs, DifferencesOfColumnsAndRowsAreSaid) {
  const std::string column = step_with([](const Tensor& out, const Tensor& y) { return (out - y).pow(2).mean(); });
  EXPECT_NE(column.find("HVD4002: the loss combines a tensor of shape [4, 1] with one that makes it [4, 4]"), std::string::npos) << column;
  const std::string row = step_with([](const Tensor& out, const Tensor& y) { return (y.unsqueeze(1) - out.squeeze(1)).abs().sum() / 16; });
  EXPECT_NE(row.find("HVD4002: the loss combines a tensor of shape [4] with one"), std::string::npos) << row;
  const std::string flat = step_with([](const Tensor& out, const Tensor& y) { return (y - out).view({-1}).pow(2).sum() / 4; });
  EXPECT_NE(flat.find("HVD4002"), std::string::npos) << flat;
}

TEST(LossPairs, OrdinaryShapesAreNot) {
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor& y) { return (out.squeeze(1) - y).pow(2).mean(); }), kNone);
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor& y) { return (out - y.unsqueeze(1)).pow(2).mean(); }), kNone);
  // Four outputs of each of four rows against one value for each row.
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor& y) { return (out - y.unsqueeze(1)).pow(2).mean(); }, 4), kNone);
  // As many features as rows: a learned scale for each of them, a weight for each row.
  const Tensor scale = hvd::ones({4}).requires_grad_();
  EXPECT_EQ(step_with([&](const Tensor& out, const Tensor&) { return (out / (scale + scale).exp()).pow(2).mean(); }, 4), kNone);
  EXPECT_EQ(step_with([&](const Tensor& out, const Tensor&) { return (out * scale.exp()).mean(); }), kNone);
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor& y) { return (out * (y.unsqueeze(1) * hvd::ones({1, 4}))).mean(); }), kNone);
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor&) { return (out.softmax(1).slice(1, 0, 1) * out).mean(); }, 4), kNone);
  // What happens inside the network is no matter of the loss.
  EXPECT_EQ(step_with([](const Tensor& out, const Tensor&) { return (out - out.transpose(0, 1)).matmul(hvd::ones({4, 2})).mean(); }), kNone);
}

}  // namespace
}  // namespace dist_loss_pairs_test
