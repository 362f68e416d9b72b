// SPDX-License-Identifier: Apache-2.0
//
// Numbers, without gradients, that compare every sample with every other by a slip of shapes: said in the first steps, and nothing else is.
#include "support.hpp"

namespace hvd::test {
namespace number_pairs_test {
namespace {

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(std::size_t i) override { return {numbers({4}, static_cast<double>(i)), at::scalar_tensor(static_cast<std::int64_t>(i % 2), at::kLong)}; }
  torch::optional<std::size_t> size() const override { return 24; }
};

// A pass over batches of 8 rows on two ranks, 4 each; what the job said when it ended.
template <class Metric>
std::string pass_with(Metric metric) {
  return failure(2, [&] {
    const at::NoGradGuard no_grad;
    auto loader = torch::data::make_data_loader<hvd::Sharded<torch::data::samplers::SequentialSampler>>(Rows().map(torch::data::transforms::Stack<>()), 8);
    for (auto& batch : hvd::steps(*loader)) metric(batch.data, batch.target);
  });
}

// Two steps of a loop by hand.
template <class Metric>
std::string steps_with(Metric metric) {
  return failure(2, [&] {
    for (int i = 0; i < 2; ++i) {
      hvd::StepScope scope;
      const at::Tensor x = hvd::shard(numbers({8, 4}, i)), y = hvd::shard(numbers({8}, 2 + i).gt(0).to(at::kLong));
      metric(x, y);
    }
  });
}

const std::string kNone = "no exception";

TEST(TorchNumberPairs, ColumnsAgainstRowsAreSaid) {
  const auto hits = [](const at::Tensor& x, const at::Tensor& y) { (x.sum(1, true) > 0).eq(y).sum(); };
  EXPECT_NE(pass_with(hits).find("HVD4002: a number combines a tensor of shape [4, 1] with one of shape [4]"), std::string::npos) << pass_with(hits);
  EXPECT_NE(steps_with(hits).find("HVD4002"), std::string::npos) << steps_with(hits);
  const auto error = [](const at::Tensor& x, const at::Tensor& y) { (y.to(at::kDouble) - x.slice(1, 0, 1)).abs().mean(); };
  EXPECT_NE(pass_with(error).find("HVD4002"), std::string::npos) << pass_with(error);
}

TEST(TorchNumberPairs, OrdinaryShapesAreNot) {
  for (const bool loader : {true, false}) {
    const auto said = [&](auto metric) { return loader ? pass_with(metric) : steps_with(metric); };
    EXPECT_EQ(said([](const at::Tensor& x, const at::Tensor& y) { (x.sum(1) > 0).eq(y).sum(), (x.sum(1, true) > 0).eq(y.unsqueeze(1)).sum(); }), kNone);
    // As many features as samples: a scale for each, by what is no sample.
    const at::Tensor scale = numbers({4}, 3);
    EXPECT_EQ(said([&](const at::Tensor& x, const at::Tensor&) { x.sum(1, true) * scale, x.sum(1, true) * at::arange(4, at::kDouble).exp(), x - x.mean(1, true); }), kNone);
    // All rows of all ranks: every pair is there.
    EXPECT_EQ(said([](const at::Tensor& x, const at::Tensor& y) { (hvd::gather(x.sum(1, true)) - hvd::gather(y)).abs().mean(); }), kNone);
  }
}

}  // namespace
}  // namespace number_pairs_test
}  // namespace hvd::test
