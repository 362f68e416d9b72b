// SPDX-License-Identifier: Apache-2.0
//
// Parameters of every type and layout.
#include "state.hpp"
#include "support.hpp"
#include "wire.hpp"
#include <hvd/dist/failure.hpp>

namespace hvd::test {
namespace tensors_test {
namespace {

using torch::optim::SGD;
using torch::optim::SGDOptions;

// loss = mean over rows of (x * w)^2 summed over columns, for a bare parameter of any shape with `columns` elements.
std::vector<at::Tensor> fit(at::Tensor parameter, bool overlapped) {
  struct Holder : torch::nn::Module {
    explicit Holder(const at::Tensor& p) : value(register_parameter("value", p)) {}
    at::Tensor value;
  };
  const auto model = std::make_shared<Holder>(parameter);
  SGD opt(model->parameters(), SGDOptions(0.1).momentum(0.5));
  hvd::broadcast(model, opt);
  if (overlapped) hvd::overlap(model, opt);
  int step = 0;
  for (const std::int64_t rows : kBatches) {
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(rows, step++, model->value.numel()).to(model->value.scalar_type()));
    opt.zero_grad();
    const at::Tensor product = x * model->value.reshape({1, -1});
    hvd::weighted((product * product + product).sum(1).mean(), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
  }
  return {model->value.detach().clone()};
}

class Types : public ::testing::TestWithParam<std::tuple<at::ScalarType, double, bool>> {};
INSTANTIATE_TEST_SUITE_P(Torch, Types,
                         ::testing::Combine(::testing::Values(at::kDouble), ::testing::Values(1e-12), ::testing::Bool()));
INSTANTIATE_TEST_SUITE_P(TorchFloat, Types, ::testing::Combine(::testing::Values(at::kFloat), ::testing::Values(2e-6), ::testing::Bool()));
INSTANTIATE_TEST_SUITE_P(TorchBFloat16, Types, ::testing::Combine(::testing::Values(at::kBFloat16), ::testing::Values(4e-2), ::testing::Bool()));

TEST_P(Types, TrainAsAlone) {
  const auto [type, tolerance, overlapped] = GetParam();
  expect_as_alone([type = type, overlapped = overlapped] { return fit(0.3 * numbers({4, 3}, 1, type), overlapped); }, tolerance);
}

// LibTorch's processor kernels know few operations in half precision; the sum over ranks is not one of them.
TEST(TorchTensors, HalfPrecisionIsSummedInFloat) {
  hvd::testing::spawn(3, [] {
    at::Tensor p = at::zeros({5}, at::kHalf).requires_grad_(true);
    SGD opt({p}, SGDOptions(0.1));
    hvd::broadcast(opt);
    // 2048 + 1 + 1 is 2050 in float and 2048 in half, added one by one.
    const float mine = hvd::rank() == 0 ? 2048 : 1;
    hvd::weighted(p.to(at::kFloat).sum() * mine * 3, hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    EXPECT_EQ(p.grad().scalar_type(), at::kHalf);
    EXPECT_EQ(p.grad().to(at::kFloat).min().item<float>(), 2050);
  });
}

TEST(TorchTensors, NonContiguousParameters) {
  for (const bool overlapped : {false, true}) {
    expect_as_alone([&] { return fit(numbers({4, 3}, 1).t(), overlapped); });
    expect_as_alone([&] { return fit(numbers({2, 3, 4, 5}, 1).contiguous(at::MemoryFormat::ChannelsLast), overlapped); });
    expect_as_alone([&] { return fit(numbers({4, 6}, 1).slice(1, 0, 6, 2), overlapped); });
  }
}

TEST(TorchTensors, ParametersWithoutElements) {
  for (const bool overlapped : {false, true}) {
    expect_as_alone([&] {
      Net net;
      net->register_parameter("none", at::zeros({0, 4}, at::kDouble));
      SGD opt(net->parameters(), SGDOptions(0.1));
      hvd::broadcast(net, opt);
      if (overlapped) hvd::overlap(net, opt);
      for (int step = 0; step < 3; ++step) {
        hvd::StepScope scope;
        const at::Tensor x = hvd::shard(inputs(4, step));
        opt.zero_grad();
        hvd::weighted(net->forward(x).square().mean() + net->parameters().front().sum() * 0, hvd::LossKind::mean).backward();
        hvd::reduce_gradients(opt);
        opt.step();
      }
      return copies(net->parameters());
    });
  }
}

// A quotient of sums over all ranks is right as a number, and its gradient would not be.
TEST(TorchTensors, AMeanOverALearnedCountIsANumberOnly) {
  hvd::testing::spawn(2, [] {
    const at::Tensor p = at::ones({3}, at::kDouble).requires_grad_(true);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(4, 0, 3).to(at::kDouble).abs() + 1);
    const at::Tensor sum = (x * x * p).sum(), count = (x * p).sum();
    const at::Tensor mean = hvd::counted_mean(sum / count, count);
    const double whole = hvd::batch_sum(sum.item<double>()) / hvd::batch_sum(count.item<double>());
    EXPECT_NEAR(hvd::batch_mean(mean.item<double>()), whole, 1e-12);
    EXPECT_THROW(mean.backward(), std::invalid_argument);
    EXPECT_THROW(hvd::LossKind::counted(count), std::invalid_argument);
    hvd::testing::forget_failure();
    EXPECT_EQ(hvd::LossKind::counted(count.detach()).count(), count.item<double>());
  });
}

// The loss is a quotient of a sum and the root of a mean: each rank's part of its gradient, weighted as that of a mean, adds up to that of the whole batch.
TEST(TorchTensors, GradientsFlowThroughMeansAndSumsOfTheWholeBatch) {
  const auto loss_of = [](const at::Tensor& x, const at::Tensor& p, bool whole) {
    const at::Tensor sum = (x * x * p).sum(), mean = (x * p.exp()).mean();
    return whole ? hvd::batch_sum_with_grad(sum) / hvd::batch_mean_with_grad(mean).sqrt() : sum / mean.sqrt();
  };
  for (const int ranks : {1, 2, 3, 5}) {
    for (const int64_t rows : {4, 7}) {
      const at::Tensor all = inputs(rows, 0, 3).to(at::kDouble).abs() + 1, alone = at::ones({3}, at::kDouble).requires_grad_(true);
      const at::Tensor expected = loss_of(all, alone, false);
      expected.backward();
      hvd::testing::spawn(ranks, [&] {
        const at::Tensor p = at::ones({3}, at::kDouble).requires_grad_(true);
        hvd::StepScope scope;
        const at::Tensor x = hvd::shard(all);
        const at::Tensor loss = loss_of(x, p, true);
        EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-12 * std::abs(expected.item<double>()));
        hvd::weighted(loss, hvd::LossKind::mean).backward();
        at::Tensor gradient = p.grad().clone();
        hvd::all_reduce_sum(gradient);
        EXPECT_LT((gradient - alone.grad()).abs().max().item<double>(), 1e-12 * alone.grad().abs().max().item<double>()) << ranks << " ranks, " << rows << " rows";
      });
    }
  }
}

// Statistics of the whole batch that the samples of each rank meet: what comes back to them from the samples of all ranks, also from ranks with a filler.
TEST(TorchTensors, GradientsFlowToTheSamplesBehindANumberOfTheWholeBatch) {
  const auto loss_of = [](const at::Tensor& x, const at::Tensor& p, bool whole) {
    const at::Tensor h = (x * p).exp(), mean = h.mean(0), rows = whole ? hvd::gather(h) : h;
    return ((h - (whole ? hvd::batch_mean(mean) : mean)) / (rows.var(0, false) + 0.1) + (whole ? hvd::batch_sum(h.sum()) : h.sum()).log()).tanh().mean();
  };
  for (const int ranks : {1, 2, 3, 5}) {
    for (const int64_t rows : {4, 7}) {
      const at::Tensor all = inputs(rows, 0, 3).to(at::kDouble), alone = at::full({3}, 0.3, at::kDouble).requires_grad_(true);
      const at::Tensor expected = loss_of(all, alone, false);
      expected.backward();
      hvd::testing::spawn(ranks, [&] {
        const at::Tensor p = at::full({3}, 0.3, at::kDouble).requires_grad_(true);
        hvd::StepScope scope;
        const at::Tensor x = hvd::shard(all);
        const bool filler = hvd::current_slice() && hvd::current_slice()->filler;
        hvd::weighted(loss_of(x, p, true), hvd::LossKind::mean).backward();
        at::Tensor gradient = filler ? at::zeros({3}, at::kDouble) : p.grad().clone();
        hvd::all_reduce_sum(gradient);
        EXPECT_LT((gradient - alone.grad()).abs().max().item<double>(), 1e-12 * alone.grad().abs().max().item<double>()) << ranks << " ranks, " << rows << " rows";
      });
    }
  }
}

// Of a loss that is a sum it cannot be told whether it counts once or on each rank; of a gradient of gradients there is none.
TEST(TorchTensors, ANumberOfTheWholeBatchSaysWhyItHasNoGradient) {
  hvd::testing::spawn(2, [] {
    const at::Tensor p = at::ones({3}, at::kDouble).requires_grad_(true);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(4, 0, 3).to(at::kDouble));
    const auto loss = [&] { return (x * p - hvd::batch_mean((x * p).mean(0))).square().mean(); };
    const auto message = [](auto run) -> std::string {
      try {
        run();
      } catch (const std::invalid_argument& e) {
        hvd::testing::forget_failure();
        return e.what();
      }
      return "";
    };
    EXPECT_NE(message([&] { hvd::weighted(loss(), hvd::LossKind::sum).backward(); }).find("the loss is a sum over samples"), std::string::npos);
    EXPECT_NE(message([&] { hvd::weighted(loss(), hvd::LossKind::mean).backward({}, true, true); }).find("no second derivative"), std::string::npos);
    EXPECT_NE(message([&] { loss().backward(); }).find("what this backward pass counts for"), std::string::npos);
  });
}

// So is a number of the whole batch that depends on parameters: it can be shown, added up and changed, and no gradient comes back through it where nobody
// says what the loss counts for.
TEST(TorchTensors, ACombinedNumberHasNoGradient) {
  hvd::testing::spawn(2, [] {
    const at::Tensor p = at::ones({3}, at::kDouble).requires_grad_(true);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(4, 0, 3).to(at::kDouble).abs() + 1);
    const at::Tensor sum = (x * p).sum();
    at::Tensor total = hvd::batch_sum(sum);
    total += 1;
    EXPECT_NEAR(total.item<double>(), hvd::batch_sum(sum.item<double>()) + 1, 1e-12);
    for (const at::Tensor& whole : {total, hvd::batch_mean((x * p).mean()), hvd::batch_max((x * p).max()), hvd::batch_count_mean(sum / 2, 2)})
      EXPECT_THROW((sum / whole).backward({}, true), std::invalid_argument);
    hvd::testing::forget_failure();
    EXPECT_NO_THROW((sum / hvd::batch_sum(sum.detach()).clamp_min(1)).backward());
  });
}

TEST(TorchTensors, ASingleNumberIsAParameter) {
  expect_as_alone([] { return fit(at::tensor(0.5, at::kDouble), true); });
}

TEST(TorchTensors, IntegersHaveNoGradients) {
  EXPECT_THROW(torch_binding::wire_type(at::zeros({2}, at::kLong)), std::runtime_error);
}

TEST(TorchTensors, GradientsAreViewsOfTheBucket) {
  hvd::testing::spawn(2, [] {
    Net net;
    SGD opt(net->parameters(), SGDOptions(0.1));
    hvd::broadcast(net, opt);
    train(net, opt);
    const void* before = net->a->weight.grad().data_ptr();
    train(net, opt);
    EXPECT_EQ(net->a->weight.grad().data_ptr(), before);
    // One allocation holds them all.
    const auto* a = static_cast<const char*>(net->a->weight.grad().data_ptr());
    const auto* b = static_cast<const char*>(net->b->bias.grad().data_ptr());
    EXPECT_LT(std::abs(a - b), 1024);
  });
}

}  // namespace
}  // namespace tensors_test
}  // namespace hvd::test
