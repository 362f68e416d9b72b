// SPDX-License-Identifier: Apache-2.0
//
// Average pooling and batch norm of the GPU's devices on images that are large enough for a library, against float64 on the host. Skipped where there
// is no GPU.
#include "device/gpu/gpu.hpp"
#include "device/gpu_library.hpp"

#include <hvd/amp.hpp>
#include <hvd/device.hpp>
#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gpu_layers_test {
namespace {

using hvd::Dtype;
using hvd::Tensor;
using hvd::TensorOptions;
namespace F = hvd::nn::functional;

class GpuDevicesLayers : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  }
  hvd::Device device() const { return GetParam(); }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuDevicesLayers, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

/// ||out - reference|| / ||reference||; NaN stays NaN.
double distance(const Tensor& out, const Tensor& reference) {
  const Tensor o = out.cpu().to(hvd::kFloat64).reshape({-1}), r = reference.cpu().to(hvd::kFloat64).reshape({-1}), difference = o - r;
  return std::sqrt((difference * difference).sum().item<double>() / (r * r).sum().item<double>());
}

Tensor drawn(std::vector<int64_t> shape) { return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_(); }

double tolerance(Dtype dtype) { return dtype == hvd::kFloat64 ? 1e-13 : dtype == hvd::kFloat32 ? 2e-6 : 1e-2; }

TEST_P(GpuDevicesLayers, AveragesFollowTheReference) {
  const std::vector<std::function<Tensor(const Tensor&)>> poolings = {
      [](const Tensor& x) { return F::avg_pool2d(x, F::AvgPool2dFuncOptions({2, 2})); },
      [](const Tensor& x) { return F::avg_pool2d(x, F::AvgPool2dFuncOptions({3, 2}).stride({2, 1}).padding({1, 1})); },
      [](const Tensor& x) { return F::avg_pool2d(x, F::AvgPool2dFuncOptions({3, 3}).stride({2, 2}).padding({1, 1}).count_include_pad(false)); },
      [](const Tensor& x) { return F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({1, 1})); },
      [](const Tensor& x) { return F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({7, 5})); },
      [](const Tensor& x) { return F::max_pool2d(x, F::MaxPool2dFuncOptions({3, 3}).stride({2, 2}).padding({1, 1})); }};
  const Tensor values = drawn({4, 16, 38, 35});
  for (size_t i = 0; i < poolings.size(); ++i)
    for (const bool deterministic : {false, true})
      for (const Dtype dtype : {hvd::kFloat64, hvd::kFloat32, hvd::kBFloat16}) {
        hvd::set_deterministic(deterministic);
        const Tensor same = values.to(dtype), reference_x = same.to(hvd::kFloat64).clone().requires_grad_(), reference = poolings[i](reference_x);
        const Tensor grad = drawn(reference.sizes()).to(dtype);
        (reference * grad.to(hvd::kFloat64)).sum().backward();
        for (int turn = 0; turn < 2; ++turn) {
          const Tensor x = same.to(device()).clone().requires_grad_(), y = poolings[i](x);
          (y * grad.to(device())).sum().backward();
          EXPECT_LT(distance(y.detach(), reference.detach()), tolerance(dtype)) << dtype << ", pooling " << i;
          EXPECT_LT(distance(x.grad(), reference_x.grad()), tolerance(dtype)) << dtype << ", gradient of pooling " << i;
        }
      }
}

struct Normalised {
  Tensor y, x, weight, bias, mean, variance;
};

/// `low`: images of 16 bits, parameters in float32.
Normalised normalised(const Tensor& values, const Tensor& grad, hvd::Device device, Dtype dtype, bool low = false) {
  hvd::nn::BatchNorm2d layer(values.size(1));
  layer->to(device);
  layer->to(dtype);
  {
    const hvd::NoGradGuard no_grad;
    layer->weight.copy_(hvd::arange(values.size(1), TensorOptions(hvd::kFloat64).device(hvd::kCPU)) * 0.1 + 0.5);
    layer->bias.copy_(hvd::arange(values.size(1), TensorOptions(hvd::kFloat64).device(hvd::kCPU)) * -0.2 + 0.3);
  }
  const Dtype of_x = low ? hvd::kBFloat16 : dtype;
  const Tensor x = values.to(device, of_x).clone().requires_grad_(), y = layer(x);
  (y * grad.to(device, of_x).to(y.dtype())).sum().backward();
  return {y.detach(), x.grad(), layer->weight.grad(), layer->bias.grad(), layer->running_mean, layer->running_var};
}

// Means far from zero: sums of squares would lose all digits.
TEST_P(GpuDevicesLayers, BatchNormFollowsTheReference) {
  for (const double mean : {0.0, 30.0})
    for (const bool deterministic : {false, true})
      for (const auto& shape : {std::vector<int64_t>{8, 16, 30, 31}, std::vector<int64_t>{64, 5, 16, 16}}) {
        hvd::set_deterministic(deterministic);
        const Tensor values = drawn(shape) + mean, grad = drawn(shape);
        const Normalised reference = normalised(values, grad, hvd::kCPU, hvd::kFloat64);
        for (int turn = 0; turn < 2; ++turn) {
          const Normalised out = normalised(values, grad, device(), hvd::kFloat32);
          const double most = mean == 0 ? 5e-6 : 5e-5;
          EXPECT_LT(distance(out.y, reference.y), most) << mean;
          EXPECT_LT(distance(out.x, reference.x), most) << mean;
          EXPECT_LT(distance(out.weight, reference.weight), most) << mean;
          EXPECT_LT(distance(out.bias, reference.bias), most) << mean;
          EXPECT_LT(distance(out.mean, reference.mean), most) << mean;
          EXPECT_LT(distance(out.variance, reference.variance), most) << mean;
        }
      }
}

TEST_P(GpuDevicesLayers, BatchNormOf16BitsFollowsTheReference) {
  const Tensor values = drawn({8, 16, 30, 31}).to(hvd::kBFloat16), grad = drawn({8, 16, 30, 31}).to(hvd::kBFloat16);
  const Normalised reference = normalised(values, grad, hvd::kCPU, hvd::kFloat64);
  for (int turn = 0; turn < 2; ++turn) {
    const Normalised out = normalised(values, grad, device(), hvd::kFloat32, true);
    EXPECT_LT(distance(out.y, reference.y), 1e-2);
    EXPECT_LT(distance(out.x, reference.x), 1e-2);
    EXPECT_LT(distance(out.weight, reference.weight), 1e-2);
    EXPECT_LT(distance(out.bias, reference.bias), 1e-2);
    EXPECT_LT(distance(out.mean, reference.mean), 1e-5);
    EXPECT_LT(distance(out.variance, reference.variance), 1e-5);
  }
}

TEST_P(GpuDevicesLayers, StatisticsOfFloat32AreWidened) {
  const auto& gpu = *static_cast<const hvd::backends::gpu::Gpu*>(hvd::backends::require_gpu().backend(GetParam()));
  const TensorOptions single = TensorOptions(hvd::kFloat32).device(device()), wide = TensorOptions(hvd::kFloat64).device(device());
  const Tensor mean = hvd::tensor({1.5, -2.0}, single), inverse = hvd::tensor({0.5, 2e3}, single);
  const Tensor mean_out = hvd::zeros({2}, wide), variance = hvd::zeros({2}, wide), inverse_out = hvd::zeros({2}, wide);
  gpu.widen_statistics(2, 1e-5, mean.data_ptr<float>(), inverse.data_ptr<float>(), mean_out.data_ptr<double>(), variance.data_ptr<double>(),
                       inverse_out.data_ptr<double>());
  EXPECT_TRUE(hvd::equal(mean_out.cpu(), mean.cpu().to(hvd::kFloat64)));
  EXPECT_TRUE(hvd::equal(inverse_out.cpu(), inverse.cpu().to(hvd::kFloat64)));
  EXPECT_EQ(variance.cpu().data_ptr<double>()[0], 4 - 1e-5);
  EXPECT_EQ(variance.cpu().data_ptr<double>()[1], 0);
}

// A node that keeps its own result would keep the whole graph for ever.
TEST_P(GpuDevicesLayers, NothingOfAStepStays) {
  const auto step = [&](const std::string& network, bool words, bool backward) {
    hvd::nn::Network model(hvd::nn::parse_network(network, "network"));
    model->to(device());
    hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.01).momentum(0.9));
    const TensorOptions numbers = TensorOptions(hvd::kFloat32).device(device()), counts = TensorOptions(hvd::kInt64).device(device());
    const Tensor x = words ? hvd::randint(1, 9, {3, 8}, counts) : hvd::empty({3, 2, 8, 8}, numbers).normal_();
    for (const bool low : {false, true}) {
      const hvd::amp::AutocastGuard autocast(hvd::kBFloat16, low);
      const Tensor loss = hvd::nn::functional::cross_entropy(model(x), hvd::randint(0, 2, {3}, counts));
      if (!backward) continue;
      loss.backward();
      optimizer.step();
    }
  };
  const std::string images =
      "input input shape=2x8x8\nconv conv2d out=8 kernel=3 padding=1\nnorm batch_norm\nrelu relu\nother max_pool2d from=relu kernel=2\n"
      "mean avg_pool2d from=relu kernel=2\nboth add with=other\ndrop dropout\nflat flatten\nhead linear out=2\n";
  const std::string words =
      "input input shape=8\ntokens embedding rows=9 dim=16\nplaces learned_positions\nlayer transformer_encoder heads=2 activation=gelu\n"
      "plain transformer_encoder heads=2 dropout=0 norm_first=yes causal=yes\nnorm layer_norm\nfirst first_token\nhead linear out=2\n";
  for (const std::string& network : {images, words})
    for (const bool backward : {false, true}) {
      step(network, network == words, backward);  // what is made once for all
      const size_t before = hvd::device_memory_use().used;
      step(network, network == words, backward);
      EXPECT_EQ(hvd::device_memory_use().used, before) << network << (backward ? "backward" : "forward");
    }
}

}  // namespace
}  // namespace gpu_layers_test
