// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move several elements at a time: lengths that are no multiple, views that begin anywhere, rows of infinities; and the order of sums, which
// is that of the sizes, wherever the numbers lie.
#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gpu_packs_test {
namespace {

using hvd::Dtype;
using hvd::Tensor;
using hvd::TensorOptions;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GpuDevicesPacks : public testing::TestWithParam<Dtype> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(hvd::kCUBLAS); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  }
  Tensor drawn(std::vector<int64_t> shape) const { return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_().to(GetParam()); }
  /// On the GPU, `first` elements behind a place where packs may lie.
  Tensor moved(const Tensor& values, int64_t first) const {
    const Tensor room = hvd::zeros({values.numel() + first}, TensorOptions(GetParam()).device(hvd::kCUBLAS));
    const Tensor view = room.narrow(0, first, values.numel()).view(values.sizes());
    view.copy_(values.to(hvd::kCUBLAS));
    return view;
  }
  void expect_close(const Tensor& there, const Tensor& here, const std::string& what) const {
    const double most = GetParam() == hvd::kFloat64 ? 1e-13 : GetParam() == hvd::kFloat32 ? 1e-6 : 1e-2;
    EXPECT_LT(core_tests::difference(there.cpu().to(hvd::kFloat64), here.to(hvd::kFloat64)), most) << what;
  }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuDevicesPacks, testing::Values(hvd::kFloat32, hvd::kFloat64, hvd::kBFloat16, hvd::kFloat16),
                         [](const auto& info) { return std::string(hvd::dtype_name(info.param)) + "_cublas"; });

TEST_P(GpuDevicesPacks, ElementsOfAnyLengthFromAnywhere) {
  for (const int64_t n : {1, 7, 8, 9, 31, 257})
    for (const int64_t first : {0, 1, 3, 8}) {
      const std::string what = std::to_string(n) + " elements from " + std::to_string(first);
      const Tensor a = drawn({n}), b = drawn({n}), x = moved(a, first), y = moved(b, 0);
      expect_close(x.relu(), a.relu(), "relu of " + what);
      expect_close(x + y, a + b, "sum of " + what);
      expect_close(x * x, a * a, "product of " + what);
      expect_close(x.clone(), a, "copy of " + what);
      expect_close(x.to(hvd::kFloat32), a.to(hvd::kFloat32), "float32 of " + what);
      expect_close(x.to(hvd::kFloat32).to(GetParam()), a, "and back, of " + what);
      const Tensor room = moved(a, first);
      room.add_(y, 0.5);
      expect_close(room, a + b * 0.5, "scaled sum of " + what);
      room.fill_(2);
      expect_close(room, hvd::ones_like(a) * 2, "filling of " + what);
    }
}

TEST_P(GpuDevicesPacks, PartsOfRowsAreCopied) {
  const Tensor values = drawn({3, 5, 48}), there = values.to(hvd::kCUBLAS);
  for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 16}, {16, 32}, {8, 8}, {3, 16}, {0, 13}, {47, 1}}) {
    const Tensor part = values.narrow(2, first, count);
    expect_close(there.narrow(2, first, count).contiguous(), part.contiguous(), std::to_string(count) + " columns from " + std::to_string(first));
    const Tensor turned = values.transpose(0, 1).narrow(2, first, count);
    expect_close(there.transpose(0, 1).narrow(2, first, count).contiguous(), turned.contiguous(), "turned, from " + std::to_string(first));
  }
}

TEST_P(GpuDevicesPacks, SumsComeInAnOrderOfTheSizesAlone) {
  for (const auto& shape : {std::vector<int64_t>{3, 50, 24}, {2, 700, 7}, {1, 5000, 16}, {4, 1, 1}}) {
    const Tensor values = drawn(shape), straight = moved(values, 0), askew = moved(values, 1);
    for (const int64_t dim : {0, 1, 2}) {
      const Tensor sums = straight.sum(dim);
      EXPECT_TRUE(hvd::equal(sums.cpu(), askew.sum(dim).cpu())) << "dimension " << dim;
      expect_close(sums, values.to(hvd::kFloat64).sum(dim), "sum over dimension " + std::to_string(dim));
    }
    EXPECT_TRUE(hvd::equal(straight.sum().cpu(), askew.sum().cpu()));
  }
}

TEST_P(GpuDevicesPacks, RowsWithInfinities) {
  for (const int64_t columns : {5, 16, 1000}) {
    Tensor values = drawn({6, columns});
    for (int64_t j = 0; j + 1 < columns; ++j) values[0][j].fill_(-kInfinity);  // one number only
    values[1].fill_(-kInfinity);
    values[2][columns / 2].fill_(kInfinity);
    values[3][columns - 1].fill_(std::numeric_limits<double>::quiet_NaN());
    values[4][0].fill_(-kInfinity);
    for (const bool log : {false, true}) {
      const auto of = [&](const Tensor& x) { return log ? x.log_softmax(1) : x.softmax(1); };
      const Tensor here = of(values).to(hvd::kFloat64), there = of(values.to(hvd::kCUBLAS)).cpu().to(hvd::kFloat64);
      for (int64_t i = 0; i < here.numel(); ++i) {
        const double a = here.view({-1})[i].item<double>(), b = there.view({-1})[i].item<double>();
        if (a != a || a - a != 0)
          EXPECT_TRUE((a != a && b != b) || a == b) << a << " and " << b << ", row " << i / columns;
        else
          EXPECT_NEAR(a, b, (hvd::is_low_precision(GetParam()) ? 2e-2 : 2e-6) * (1 + std::abs(a))) << "row " << i / columns;
      }
    }
  }
}

}  // namespace
}  // namespace gpu_packs_test
