// SPDX-License-Identifier: Apache-2.0
//
// Which averages the device `cudnn` gives to cuDNN: needs neither cuDNN nor a GPU.
#include "device/cudnn/rules/pooling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cudnn_rules_test {
namespace {

using hvd::backends::Spans;
using namespace hvd::backends::cuda::rules;

/// Windows as avg_pool2d has them.
Spans windows(int64_t extent, int64_t kernel, int64_t stride, int64_t pad) {
  Spans spans;
  for (int64_t i = 0; i < (extent + 2 * pad - kernel) / stride + 1; ++i) {
    spans.first.push_back(std::max<int64_t>(i * stride - pad, 0));
    spans.last.push_back(std::min(i * stride - pad + kernel, extent));
  }
  return spans;
}
/// As adaptive_avg_pool2d.
Spans parts(int64_t extent, int64_t outputs) {
  Spans spans;
  for (int64_t i = 0; i < outputs; ++i) {
    spans.first.push_back(i * extent / outputs);
    spans.last.push_back(((i + 1) * extent + outputs - 1) / outputs);
  }
  return spans;
}

/// The spans that cuDNN's windows of the problem take in, down and across.
void expect_same_windows(const PoolingProblem& p, const Spans& down, const Spans& across) {
  const Spans rows = windows(p.h, p.kernel_h, p.stride_h, p.pad_h), columns = windows(p.w, p.kernel_w, p.stride_w, p.pad_w);
  EXPECT_EQ(rows.first, down.first);
  EXPECT_EQ(rows.last, down.last);
  EXPECT_EQ(columns.first, across.first);
  EXPECT_EQ(columns.last, across.last);
}

TEST(CudnnPoolingRules, WindowsOfEverySizeAreRecognised) {
  int regular = 0;
  for (int64_t extent = 1; extent <= 12; ++extent)
    for (int64_t kernel = 1; kernel <= 5; ++kernel)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t pad = 0; 2 * pad <= kernel; ++pad) {
          if (extent + 2 * pad < kernel) continue;
          const Spans down = windows(extent, kernel, stride, pad), across = windows(9, 3, 2, 1);
          const auto found = regular_windows(6, extent, 9, down, across, 0);
          if (!found) continue;
          ++regular;
          expect_same_windows(*found, down, across);
          EXPECT_FALSE(found->counts_padding);
          // What it takes in is all of the window: padding counts for nothing where there is none.
          const auto counted = regular_windows(6, extent, 9, down, across, static_cast<double>(kernel * 3));
          if (counted) {
            EXPECT_EQ(counted->kernel_h * counted->kernel_w, kernel * 3);
            EXPECT_TRUE(counted->counts_padding);
          }
        }
  EXPECT_GT(regular, 300);
  const auto usual = regular_windows(64, 28, 28, windows(28, 2, 2, 0), windows(28, 2, 2, 0), 4);
  ASSERT_TRUE(usual);
  EXPECT_FALSE(usual->counts_padding);
  const auto padded = regular_windows(64, 28, 28, windows(28, 3, 2, 1), windows(28, 3, 2, 1), 9);
  ASSERT_TRUE(padded);
  EXPECT_TRUE(padded->counts_padding);
}

TEST(CudnnPoolingRules, PartsOfAnImageAreWindowsWhereTheyAreAlike) {
  const Spans all = parts(7, 1), thirds = parts(12, 3), overlapping = parts(7, 3), uneven = parts(10, 4);
  const auto whole = regular_windows(32, 7, 7, all, all, 0);
  ASSERT_TRUE(whole);
  expect_same_windows(*whole, all, all);
  ASSERT_TRUE(regular_windows(32, 12, 7, thirds, all, 0));
  const auto two_apart = regular_windows(32, 7, 7, overlapping, all, 0);
  ASSERT_TRUE(two_apart);
  expect_same_windows(*two_apart, overlapping, all);
  EXPECT_FALSE(regular_windows(32, 10, 7, uneven, all, 0));
}

TEST(CudnnPoolingRules, OtherAveragesAreLeft) {
  const Spans two = windows(8, 2, 2, 0);
  EXPECT_TRUE(regular_windows(65535, 8, 8, two, two, 0));
  EXPECT_FALSE(regular_windows(65536, 8, 8, two, two, 0));
  EXPECT_FALSE(regular_windows(0, 8, 8, two, two, 0));
  EXPECT_FALSE(regular_windows(1, 8, 8, two, two, 5));
  EXPECT_FALSE(regular_windows(1, 8, 8, Spans(), two, 0));
  Spans odd = two;
  odd.last[1] += 1;
  EXPECT_FALSE(regular_windows(1, 8, 8, odd, two, 0));
}

TEST(CudnnPoolingRules, PlansAreKeptByEverythingTheyDependOn) {
  const PoolingProblem base = {{hvd::Dtype::kFloat32, false, false}, 4, 8, 8, 4, 4, 2, 2, 2, 2, 1, 1, false, false, 16};
  std::vector<PoolingProblem> all = {base};
  const auto with = [&](auto change) {
    PoolingProblem p = base;
    change(p);
    all.push_back(p);
  };
  with([](PoolingProblem& p) { p.arithmetic.dtype = hvd::Dtype::kFloat64; });
  with([](PoolingProblem& p) { p.counts_padding = true; });
  with([](PoolingProblem& p) { p.backward = true; });
  int64_t PoolingProblem::* const numbers[] = {&PoolingProblem::planes,   &PoolingProblem::h,        &PoolingProblem::w,        &PoolingProblem::oh,
                                               &PoolingProblem::ow,       &PoolingProblem::kernel_h, &PoolingProblem::kernel_w, &PoolingProblem::stride_h,
                                               &PoolingProblem::stride_w, &PoolingProblem::pad_h,    &PoolingProblem::pad_w,    &PoolingProblem::alignment};
  for (int64_t PoolingProblem::* const number : numbers) with([&](PoolingProblem& p) { p.*number += 1; });
  EXPECT_EQ(std::set<PoolingProblem>(all.begin(), all.end()).size(), all.size());
  std::set<std::string> names;
  for (const PoolingProblem& p : all) names.insert(describe(p));
  EXPECT_EQ(names.size(), all.size());
}

}  // namespace
}  // namespace cudnn_rules_test
