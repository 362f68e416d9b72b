// SPDX-License-Identifier: Apache-2.0
//
// bfloat16 and float16 in kernels that read and write them as such: the numbers of float32 rounded once, and no copies in float32.
#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace gpu_low_precision_test {
namespace {

namespace F = hvd::nn::functional;
using hvd::Tensor;
using hvd::TensorOptions;

class GpuLowPrecision : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  }
  hvd::Device device() const { return GetParam(); }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuLowPrecision, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

struct Case {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& y)> f;  // x and y [4, 6, 8, 10]
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
      {"broadcast", [](const Tensor& x, const Tensor& y) { return x * y.narrow(1, 0, 1); }},
      {"transposed", [](const Tensor& x, const Tensor& y) { return x.transpose(2, 3) - y.transpose(2, 3); }},
      {"div", [](const Tensor& x, const Tensor& y) { return x / y; }},
      {"relu", [](const Tensor& x, const Tensor&) { return F::relu(x); }},
      {"gelu", [](const Tensor& x, const Tensor&) { return F::gelu(x); }},
      {"sigmoid", [](const Tensor& x, const Tensor&) { return F::sigmoid(x); }},
      {"exp", [](const Tensor& x, const Tensor&) { return x.exp(); }},
      {"softmax", [](const Tensor& x, const Tensor&) { return F::softmax(x, 3); }},
      {"log_softmax", [](const Tensor& x, const Tensor&) { return F::log_softmax(x, 3); }},
      {"layer_norm", [](const Tensor& x, const Tensor&) { return F::layer_norm(x, {10}); }},
      {"max_pool2d", [](const Tensor& x, const Tensor&) { return F::max_pool2d(x, F::MaxPool2dFuncOptions(3).stride(2).padding(1)); }},
      {"avg_pool2d", [](const Tensor& x, const Tensor&) { return F::avg_pool2d(x, 2); }},
      {"sum", [](const Tensor& x, const Tensor&) { return x.sum(1); }},
      {"max", [](const Tensor& x, const Tensor&) { return x.max(2).first; }},
      {"dropout", [](const Tensor& x, const Tensor&) { return F::dropout(x, 0.3, true); }},
      {"masked_fill", [](const Tensor& x, const Tensor& y) { return x.masked_fill(y > 0, 2); }},
  };
  return all;
}

/// A loss whose gradient is another number for each element.
Tensor weighed(const Tensor& t) {
  const Tensor factors = hvd::empty(t.sizes(), TensorOptions(hvd::kFloat32).device(hvd::kCPU));
  for (int64_t i = 0; i < factors.numel(); ++i) factors.data_ptr<float>()[i] = static_cast<float>(i % 5);
  return (t * factors.to(t.device(), t.dtype())).sum();
}

/// One unit in the last place: two kernels that are compiled from the same text may join products and sums differently.
double ulp(hvd::Dtype dtype) { return dtype == hvd::kBFloat16 ? 0x1p-7 : 0x1p-10; }

void expect_rounded(const Tensor& low, const Tensor& wide, hvd::Dtype dtype, const std::string& what) {
  ASSERT_EQ(low.dtype(), dtype) << what;
  const Tensor a = low.cpu().to(hvd::kFloat64).contiguous(), b = wide.cpu().to(dtype).to(hvd::kFloat64).contiguous();
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  int64_t different = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    EXPECT_LE(std::abs(x - y), ulp(dtype) * std::abs(y) + 1e-7) << what << ", element " << i;
    different += x != y;
  }
  EXPECT_LE(different, a.numel() / 50) << what;
}

TEST_P(GpuLowPrecision, ResultsAreThoseOfFloat32RoundedOnce) {
  for (const hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16})
    for (const Case& c : cases()) {
      hvd::manual_seed(5);
      const auto draw = [&] { return hvd::empty({4, 6, 8, 10}, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_().to(device(), dtype); };
      const Tensor x = draw(), y = draw();
      hvd::manual_seed(6);
      const Tensor low = c.f(x, y);
      hvd::manual_seed(6);
      const Tensor wide = c.f(x.to(hvd::kFloat32), y.to(hvd::kFloat32));
      expect_rounded(low, wide, dtype, std::string(c.name) + " in " + hvd::dtype_name(dtype));
    }
}

// A buffer of float32 for an operand of this size would show.
TEST_P(GpuLowPrecision, NothingIsCopiedToFloat32) {
  const int64_t n = int64_t{1} << 20;
  const Tensor x = hvd::ones({16, 4, 128, 128}, TensorOptions(hvd::kBFloat16).device(device()));
  ASSERT_EQ(x.numel(), n);
  hvd::nn::BatchNorm2d norm(4);
  norm->to(device());
  const std::function<Tensor()> operations[] = {[&] { return x + x; }, [&] { return F::relu(x); }, [&] { return F::softmax(x, 3); },
                                                [&] { return F::layer_norm(x, {128}); }, [&] { return norm(x); }, [&] { return x.sum(0); }};
  for (const auto& operation : operations) {
    operation();  // what it keeps between calls
    hvd::reset_peak_device_memory();
    const size_t before = hvd::device_memory_use(hvd::MemoryKind::kDevice).used;
    const Tensor out = operation();
    EXPECT_EQ(out.dtype(), hvd::kBFloat16);
    EXPECT_LT(hvd::device_memory_use(hvd::MemoryKind::kDevice).peak - before, 3u * static_cast<size_t>(n)) << &operation - operations;  // 2 bytes each, and statistics
  }
}

// Mixed precision: activations of 16 bits, parameters and statistics in float32.
TEST_P(GpuLowPrecision, BatchNormOfMixedPrecision) {
  for (const hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    hvd::manual_seed(9);
    const Tensor values = hvd::empty({8, 3, 5, 5}, TensorOptions(hvd::kFloat32).device(hvd::kCPU)).normal_(1, 2).to(device(), dtype);
    const auto run = [&](const Tensor& input) {
      hvd::nn::BatchNorm2d norm(3);
      norm->to(device());
      const Tensor x = input.detach().clone().requires_grad_(), out = norm(x);
      weighed(out).backward();
      return std::vector<Tensor>{out.detach(), x.grad(), norm->weight.grad(), norm->bias.grad(), norm->running_mean, norm->running_var};
    };
    const std::vector<Tensor> low = run(values), wide = run(values.to(hvd::kFloat32));
    expect_rounded(low[0], wide[0], dtype, "the output");
    for (size_t i = 1; i < low.size(); ++i) {
      EXPECT_EQ(low[i].dtype(), i == 1 ? dtype : hvd::kFloat32) << i;
      EXPECT_LT(core_tests::difference(low[i].to(hvd::kFloat32), wide[i]), i < 4 ? 4 * ulp(dtype) : 1e-6) << i;
    }
  }
}

}  // namespace
}  // namespace gpu_low_precision_test
