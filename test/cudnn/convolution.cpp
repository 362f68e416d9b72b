// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as graphs: every descriptor is finished, and cuDNN has plans for an H100.
#include "device/cudnn/convolution_graph.hpp"
#include "device/cudnn/graph/plan.hpp"
#include "test/cudnn/described_gpu.hpp"

#include <gtest/gtest.h>

namespace cudnn_test {
namespace {

using namespace hvd::backends;
using namespace hvd::backends::cuda;
using hvd::Dtype;
using rules::Layout;
using rules::Product;

/// A layer in the middle of a network, a first layer with odd extents, groups, one channel in each group, one pixel, dilation.
std::vector<Window2d> windows() {
  return {{8, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1, 56, 56},     {2, 3, 9, 7, 5, 3, 3, 2, 1, 1, 1, 5, 7},
          {4, 32, 14, 14, 64, 3, 3, 1, 1, 1, 1, 14, 14, 1, 1, 4}, {4, 32, 14, 14, 32, 3, 3, 1, 1, 1, 1, 14, 14, 1, 1, 32},
          {4, 64, 14, 14, 128, 1, 1, 2, 2, 0, 0, 7, 7},       {2, 16, 20, 20, 24, 3, 3, 1, 1, 2, 2, 20, 20, 2, 2}};
}

std::vector<rules::Convolution> problems() {
  std::vector<rules::Convolution> all;
  for (const Window2d& window : windows())
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kFloat64, Dtype::kBFloat16, Dtype::kFloat16})
      for (const bool tf32 : {false, true})
        for (const bool deterministic : {false, true})
          for (const Product product : {Product::kForward, Product::kGradInput, Product::kGradWeight})
            for (const bool bias : {false, true})
              if ((!tf32 || dtype == Dtype::kFloat32) && (!bias || product == Product::kForward))
                all.push_back({product, {dtype, deterministic, tf32}, window, bias, 16});
  return all;
}

TEST(CudnnConvolution, DescriptorsOfEveryProblemAreFinished) {
  if (const std::string problem = cudnn_problem(); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  for (const rules::Convolution& c : problems())
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc})
      for (const bool fused : {false, true})
        if (!fused || c.bias) {
          EXPECT_NO_THROW(convolution_graph(c, layout, fused, {})) << describe(c) << " " << rules::name_of(layout) << (fused ? " fused" : "");
        }
}

TEST(CudnnConvolution, AnH100HasPlansWithTheBiasFused) {
  std::string why = cudnn_problem();
  const auto device = why.empty() ? described_h100(why) : nullptr;
  if (!device) GTEST_SKIP() << "skipped: " << why;
  for (const rules::Convolution& c : problems()) {
    size_t plans = 0;
    for (const Layout layout : rules::layouts(c)) {
      const graph::Graph g = convolution_graph(c, layout, c.bias, {nullptr, device.get()});
      const graph::Proposals found = graph::proposals(g, {nullptr, device.get()}, c.arithmetic, 1, size_t{1} << 30);
      plans += found.plans.size();
      EXPECT_LE(found.plans.size(), found.kept);
    }
    EXPECT_GT(plans, 0u) << describe(c);
  }
}

// Operands that begin anywhere: views of a batch.
TEST(CudnnConvolution, AnH100HasPlansForOperandsThatAreNotAligned) {
  std::string why = cudnn_problem();
  const auto device = why.empty() ? described_h100(why) : nullptr;
  if (!device) GTEST_SKIP() << "skipped: " << why;
  for (rules::Convolution c : problems()) {
    if (c.arithmetic.deterministic || c.window.groups > 1) continue;
    c.alignment = static_cast<int64_t>(dtype_size(c.arithmetic.dtype));
    size_t plans = 0;
    for (const Layout layout : rules::layouts(c))
      for (const bool fused : {true, false})
        if (c.bias || !fused)
          plans += graph::proposals(convolution_graph(c, layout, fused, {nullptr, device.get()}), {nullptr, device.get()}, c.arithmetic, 1, size_t{1} << 30)
                       .plans.size();
    EXPECT_GT(plans, 0u) << describe(c);
  }
}

// Without TF32 the engines that use it are left out, and there are some.
TEST(CudnnConvolution, TensorCoresOfFloat32AreLeftOutUnlessAskedFor) {
  std::string why = cudnn_problem();
  const auto device = why.empty() ? described_h100(why) : nullptr;
  if (!device) GTEST_SKIP() << "skipped: " << why;
  rules::Convolution c = {Product::kForward, {Dtype::kFloat32, false, false}, windows()[0], false, 16};
  const auto found = [&] {
    return graph::proposals(convolution_graph(c, Layout::kNhwc, false, {nullptr, device.get()}), {nullptr, device.get()}, c.arithmetic, 3, size_t{1} << 30);
  };
  const graph::Proposals without = found();
  EXPECT_LT(without.kept, without.considered);
  c.arithmetic.tf32 = true;
  const graph::Proposals with = found();
  EXPECT_EQ(with.kept, with.considered);
  ASSERT_FALSE(with.plans.empty());
  EXPECT_NE(with.plans[0].engine(), without.plans.at(0).engine());
}

TEST(CudnnGraph, FailuresNameTheCallTheDescriptorAndTheReason) {
  if (const std::string problem = cudnn_problem(); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  graph::Descriptor tensor = HVD_CUDNN_DESCRIPTOR(TENSOR);
  try {
    tensor.set(HVD_CUDNN_ATTR(TENSOR_DIMENSIONS), 2.0);
    FAIL();
  } catch (const graph::Failure& failure) {
    const std::string text = failure.in("convolution of [1]").what();
    for (const char* part : {"convolution of [1]: ", "cudnnBackendSetAttribute of TENSOR, TENSOR_DIMENSIONS", "CUDNN_STATUS_BAD_PARAM"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_THROW(tensor.finish(), graph::Failure);
}

}  // namespace
}  // namespace cudnn_test
