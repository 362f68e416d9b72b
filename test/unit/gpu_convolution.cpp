// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of the GPU's devices against float64 on the host: layouts, groups, dilation, biases, views that begin anywhere, TF32,
// deterministic mode; and the transposition that makes channels last. Skipped where there is no GPU.
#include "device/gpu/gpu.hpp"
#include "device/gpu_library.hpp"

#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace gpu_convolution_test {
namespace {

using hvd::Dtype;
using hvd::Tensor;
using hvd::TensorOptions;

class GpuDevicesConvolution : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  }
  hvd::Device device() const { return GetParam(); }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuDevicesConvolution, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

struct Layer {
  int64_t n, c, h, w, k, kernel, stride, pad, dilation, groups;
};
std::string text_of(const Layer& l) {
  std::string text;
  for (const int64_t v : {l.n, l.c, l.h, l.w, l.k, l.kernel, l.stride, l.pad, l.dilation, l.groups}) text += std::to_string(v) + " ";
  return text;
}

// Channels in whole 16 bytes and not; odd extents; one pixel; strides that leave a rest; each channel by itself.
const Layer kLayers[] = {{2, 16, 12, 10, 24, 3, 1, 1, 1, 1}, {3, 3, 9, 7, 5, 3, 2, 1, 1, 1}, {2, 32, 7, 7, 16, 1, 1, 0, 1, 1}, {2, 16, 11, 9, 32, 3, 2, 0, 1, 2},
                         {1, 8, 13, 13, 8, 3, 1, 2, 2, 1},   {2, 16, 8, 8, 16, 3, 1, 1, 1, 16}, {2, 64, 6, 5, 40, 5, 1, 2, 1, 4}};

/// Value, and gradients of image, weight and bias, in float64 on the host.
using Results = std::vector<Tensor>;

Results computed(const Layer& l, hvd::Device device, Dtype dtype, const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& grad) {
  const auto leaf = [&](const Tensor& t) { return t.to(device, dtype).clone().requires_grad_(); };
  const Tensor a = leaf(x), b = leaf(weight), c = bias.defined() ? leaf(bias) : Tensor();
  const Tensor y = hvd::nn::functional::conv2d(a, b, c, {l.stride, l.stride}, {l.pad, l.pad}, {l.dilation, l.dilation}, l.groups);
  (y * grad.to(device, dtype)).sum().backward();
  Results all = {y.detach(), a.grad(), b.grad()};
  if (c.defined()) all.push_back(c.grad());
  for (Tensor& t : all) t = t.cpu().to(hvd::kFloat64);
  return all;
}

/// ||out - reference|| / ||reference||; NaN stays NaN.
double distance(const Tensor& out, const Tensor& reference) {
  const Tensor difference = (out - reference).view({-1}), all = reference.view({-1});
  return std::sqrt((difference * difference).sum().item<double>() / (all * all).sum().item<double>());
}

double tolerance(Dtype dtype) {
  switch (dtype) {
    case hvd::kFloat64: return 1e-13;
    case hvd::kFloat32: return hvd::context().tf32 ? 2e-3 : 2e-5;
    case hvd::kFloat16: return 2e-3;
    default: return 1.5e-2;
  }
}

void expect_near_reference(hvd::Device device, Dtype dtype, bool with_bias) {
  for (const Layer& l : kLayers) {
    const auto drawn = [&](std::vector<int64_t> shape) {
      return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).uniform_(-1, 1).to(dtype).to(hvd::kFloat64);
    };
    const int64_t reach = l.dilation * (l.kernel - 1) + 1;
    const Tensor x = drawn({l.n, l.c, l.h, l.w}), weight = drawn({l.k, l.c / l.groups, l.kernel, l.kernel}), bias = with_bias ? drawn({l.k}) : Tensor();
    const Tensor grad = drawn({l.n, l.k, (l.h + 2 * l.pad - reach) / l.stride + 1, (l.w + 2 * l.pad - reach) / l.stride + 1});
    const Results reference = computed(l, hvd::kCPU, hvd::kFloat64, x, weight, bias, grad);
    for (int turn = 0; turn < 2; ++turn) {  // a plan that is searched for, and one that is known
      const Results out = computed(l, device, dtype, x, weight, bias, grad);
      for (size_t i = 0; i < out.size(); ++i)
        EXPECT_LT(distance(out[i], reference[i]), tolerance(dtype)) << dtype << ", layer " << text_of(l) << ", result " << i << ", turn " << turn;
    }
  }
}

TEST_P(GpuDevicesConvolution, FollowsTheReferenceInEveryDtype) {
  for (const Dtype dtype : {hvd::kFloat64, hvd::kFloat32, hvd::kBFloat16, hvd::kFloat16})
    for (const bool bias : {true, false}) expect_near_reference(device(), dtype, bias);
}

TEST_P(GpuDevicesConvolution, FollowsTheReferenceInDeterministicMode) {
  hvd::set_deterministic(true);
  for (const Dtype dtype : {hvd::kFloat64, hvd::kFloat32, hvd::kBFloat16}) expect_near_reference(device(), dtype, true);
}

TEST_P(GpuDevicesConvolution, FollowsTheReferenceWithTf32) {
  hvd::set_tf32(true);
  expect_near_reference(device(), hvd::kFloat32, true);
}

TEST_P(GpuDevicesConvolution, TakesViewsThatBeginAnywhere) {
  for (const Dtype dtype : {hvd::kFloat32, hvd::kBFloat16}) {
    const auto drawn = [&](std::vector<int64_t> shape) {
      return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).uniform_(-1, 1).to(dtype);
    };
    const Tensor all = drawn({16 * 5 * 5 + 1}), weight = drawn({8, 16, 3, 3});
    const auto of = [&](const Tensor& values, const Tensor& w) {
      return hvd::nn::functional::conv2d(values.narrow(0, 1, 16 * 5 * 5).view({1, 16, 5, 5}), w, Tensor(), {1, 1}, {1, 1});
    };
    const Tensor reference = of(all.to(hvd::kFloat64), weight.to(hvd::kFloat64));
    EXPECT_LT(distance(of(all.to(device()), weight.to(device())).cpu().to(hvd::kFloat64), reference), tolerance(dtype)) << dtype;
  }
}

TEST_P(GpuDevicesConvolution, DeterministicModeHasTheSameBitsTwice) {
  hvd::set_deterministic(true);
  hvd::manual_seed(5);
  const Layer l = {4, 32, 14, 14, 64, 3, 1, 1, 1, 1};
  const auto drawn = [](std::vector<int64_t> shape) { return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_(); };
  const Tensor x = drawn({4, 32, 14, 14}), weight = drawn({64, 32, 3, 3}), bias = drawn({64}), grad = drawn({4, 64, 14, 14});
  for (const Dtype dtype : {hvd::kFloat32, hvd::kBFloat16}) {
    const Results first = computed(l, device(), dtype, x, weight, bias, grad), second = computed(l, device(), dtype, x, weight, bias, grad);
    for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(hvd::equal(first[i], second[i])) << dtype << ", result " << i;
  }
}

TEST_P(GpuDevicesConvolution, TransposesMatricesOfAnyExtent) {
  const auto& gpu = *static_cast<const hvd::backends::gpu::Gpu*>(hvd::backends::require_gpu().backend(GetParam()));
  const std::vector<std::vector<int64_t>> extents = {{1, 1, 1}, {2, 3, 5}, {3, 32, 32}, {1, 33, 31}, {2, 64, 100}, {5, 1, 40}, {2, 70, 1}, {2, 130, 66}, {3, 18, 20}};
  for (const auto& e : extents)
    for (const Dtype dtype : {hvd::kBFloat16, hvd::kFloat32, hvd::kFloat64}) {
      const Tensor values = hvd::empty(e, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_().to(dtype);
      const Tensor there = values.to(device()), out = hvd::zeros({e[0], e[2], e[1]}, TensorOptions(dtype).device(device()));
      gpu.transpose(dtype_size(dtype), e[0], e[1], e[2], there.raw_data(), out.raw_data());
      EXPECT_TRUE(hvd::equal(out.cpu(), values.transpose(1, 2).contiguous())) << hvd::to_string(e) << " " << dtype;
    }
}

}  // namespace
}  // namespace gpu_convolution_test
