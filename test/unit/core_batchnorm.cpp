// SPDX-License-Identifier: Apache-2.0
//
// Batch norm over one batch and, synchronised, over the slices of several ranks. The ranks here are threads that meet in a
// reducer of the test's own.
#include "test/unit/core_support.hpp"

#include <hvd/autograd.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <exception>
#include <mutex>
#include <thread>

namespace core_batchnorm_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace nn = hvd::nn;

/// Sums over threads, in the order of the ranks.
class MeetingPoint {
 public:
  explicit MeetingPoint(int ranks) : parts_(ranks), barrier_(ranks) {}
  void all_reduce(int rank, double* values, size_t count) {
    parts_[rank].assign(values, values + count);
    barrier_.arrive_and_wait();
    std::vector<double> total(count);
    for (const auto& part : parts_)
      for (size_t i = 0; i < count; ++i) total[i] += part.at(i);
    barrier_.arrive_and_wait();
    std::copy(total.begin(), total.end(), values);
  }

 private:
  std::vector<std::vector<double>> parts_;
  std::barrier<> barrier_;
};

struct ThreadReducer final : hvd::StatisticsReducer {
  MeetingPoint* point;
  int rank;
  ThreadReducer(MeetingPoint* point, int rank) : point(point), rank(rank) {}
  void all_reduce_sum(double* values, size_t count, const char*) override { point->all_reduce(rank, values, count); }
};

struct Outcome {
  Tensor input_grad, running_mean, running_var;  // input_grad: with respect to this rank's rows, weighted
  std::vector<Tensor> grads;
};

constexpr int64_t kRows = 7;

Tensor batch() {
  hvd::manual_seed(31);
  return hvd::randn({kRows, 3, 2, 4}, hvd::kFloat64) * 2 + 1;
}

/// Mean over samples of a function that mixes channels; its gradient with respect to the layer's output is not constant.
Tensor loss_of(const Tensor& y) { return y.sigmoid().square().flatten(1).sum(1).mean(); }

/// One forward and backward of a layer on rows [first, first + rows) of the batch, as one of several ranks or alone.
Outcome train_rows(const Tensor& rows, const hvd::Slice* slice, hvd::StatisticsReducer* reducer, double weight) {
  hvd::set_default_dtype(hvd::kFloat64);
  nn::BatchNorm2d layer(3);
  {
    const hvd::NoGradGuard no_grad;
    layer->weight.copy_(hvd::tensor({0.5, 1.5, -1.0}));
    layer->bias.copy_(hvd::tensor({0.1, -0.2, 0.3}));
  }
  hvd::context().current_slice = slice;
  hvd::context().statistics_reducer = reducer;
  Tensor x = rows.clone().requires_grad_();
  const Tensor loss = loss_of(layer(x));
  {
    const hvd::autograd::BackwardWeight guard(weight);
    loss.backward();
  }
  hvd::context().current_slice = nullptr;
  hvd::context().statistics_reducer = nullptr;
  return {x.grad(), layer->running_mean, layer->running_var, {layer->weight.grad(), layer->bias.grad()}};
}

std::vector<Outcome> train_ranks(const Tensor& x, const std::vector<hvd::Slice>& slices) {
  std::vector<Outcome> out(slices.size());
  MeetingPoint point(static_cast<int>(slices.size()));
  std::vector<std::thread> ranks;
  for (size_t r = 0; r < slices.size(); ++r)
    ranks.emplace_back([&, r] {
      ThreadReducer reducer(&point, static_cast<int>(r));
      const hvd::Slice& s = slices[r];
      const double weight = s.filler ? 0.0 : static_cast<double>(s.rows) / static_cast<double>(s.global_rows);
      out[r] = train_rows(x.narrow(0, s.first_row, s.local_rows()), &s, &reducer, weight);
    });
  for (std::thread& t : ranks) t.join();
  return out;
}

void expect_sum_of_ranks(const std::vector<hvd::Slice>& slices) {
  const Defaults defaults;
  const Tensor x = batch();
  const Outcome whole = train_rows(x, nullptr, nullptr, 1);
  const std::vector<Outcome> ranks = train_ranks(x, slices);
  std::vector<Tensor> sums = {hvd::zeros({3}, hvd::kFloat64), hvd::zeros({3}, hvd::kFloat64)}, inputs;
  for (size_t r = 0; r < ranks.size(); ++r) {
    EXPECT_LT(core_tests::difference(ranks[r].running_mean, whole.running_mean), 1e-14);
    EXPECT_LT(core_tests::difference(ranks[r].running_var, whole.running_var), 1e-14);
    for (int i = 0; i < 2; ++i) sums[i].add_(ranks[r].grads[i]);
    if (!slices[r].filler) inputs.push_back(ranks[r].input_grad);
  }
  for (int i = 0; i < 2; ++i) EXPECT_LT(core_tests::difference(sums[i], whole.grads[i]), 1e-14);
  EXPECT_LT(core_tests::difference(hvd::cat(inputs), whole.input_grad), 1e-14);
}

TEST(CoreBatchNorm, SynchronisedSlicesAreTheWholeBatch) { expect_sum_of_ranks({{kRows, 0, 4, false}, {kRows, 4, 3, false}}); }
TEST(CoreBatchNorm, UnevenSlicesAreTheWholeBatch) { expect_sum_of_ranks({{kRows, 0, 1, false}, {kRows, 1, 5, false}, {kRows, 6, 1, false}}); }
TEST(CoreBatchNorm, FillerSlicesCountNothing) {
  expect_sum_of_ranks({{kRows, 0, 3, false}, {kRows, 3, 0, true}, {kRows, 3, 4, false}});
}

TEST(CoreBatchNorm, SynchronisedWithoutReducerIsPlain) {
  const Defaults defaults;
  const Tensor x = batch();
  const hvd::Slice slice{kRows, 0, kRows, false};
  const Outcome a = train_rows(x, nullptr, nullptr, 1), b = train_rows(x, &slice, nullptr, 1);
  EXPECT_TRUE(hvd::equal(a.input_grad, b.input_grad));
  EXPECT_TRUE(hvd::equal(a.running_var, b.running_var));
}

TEST(CoreBatchNorm, TrainingNormalisesAndTracks) {
  nn::BatchNorm2d layer(2);
  layer->to(hvd::kFloat64);
  const Tensor x = hvd::arange(24, hvd::kFloat64).view({3, 2, 2, 2});
  const Tensor y = layer(x);
  EXPECT_NEAR(y.mean({0, 2, 3}).abs().max().item<double>(), 0, 1e-12);
  const Tensor channel = x.transpose(0, 1).flatten(1);
  const Tensor mean = channel.mean(1), variance = (channel - mean.unsqueeze(1)).square().sum(1) / 11;
  EXPECT_LT(core_tests::difference(layer->running_mean, mean * 0.1), 1e-12);
  EXPECT_LT(core_tests::difference(layer->running_var, variance * 0.1 + 0.9), 1e-12);
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 1);
  layer->eval();
  layer(x);
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 1);
}

TEST(CoreBatchNorm, OneValuePerChannelIsRefused) {
  nn::BatchNorm2d layer(2);
  EXPECT_THROW(layer(hvd::ones({1, 2, 1, 1})), hvd::Error);
  EXPECT_THROW(layer(hvd::ones({1, 3, 2, 2})), hvd::Error);
}

}  // namespace
}  // namespace core_batchnorm_test
