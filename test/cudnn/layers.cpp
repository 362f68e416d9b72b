// SPDX-License-Identifier: Apache-2.0
//
// Average pooling and batch norm as graphs: every descriptor is finished, and cuDNN has plans for an H100.
#include "device/cudnn/graph/plan.hpp"
#include "device/cudnn/layer_graphs.hpp"
#include "test/cudnn/described_gpu.hpp"

#include <gtest/gtest.h>

namespace cudnn_test {
namespace {

using namespace hvd::backends;
using namespace hvd::backends::cuda;
using hvd::Dtype;

std::vector<rules::PoolingProblem> pooling_problems() {
  std::vector<rules::PoolingProblem> all;
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kFloat64, Dtype::kBFloat16})
    for (const bool backward : {false, true})
      for (const int64_t alignment : {int64_t{16}, static_cast<int64_t>(dtype_size(dtype))}) {
        const rules::Arithmetic arithmetic = {dtype, false, false};
        all.push_back({arithmetic, 512, 28, 28, 14, 14, 2, 2, 2, 2, 0, 0, false, backward, alignment});
        all.push_back({arithmetic, 64, 57, 41, 29, 21, 3, 3, 2, 2, 1, 1, true, backward, alignment});
        all.push_back({arithmetic, 64, 57, 41, 29, 21, 3, 3, 2, 2, 1, 1, false, backward, alignment});
        all.push_back({arithmetic, 2048, 7, 7, 1, 1, 7, 7, 7, 7, 0, 0, false, backward, alignment});
      }
  return all;
}

std::vector<BatchNormProblem> norm_problems() {
  std::vector<BatchNormProblem> all;
  for (const bool backward : {false, true}) {
    all.push_back({Dtype::kFloat32, 32, 64, 56 * 56, backward, 16});
    all.push_back({Dtype::kFloat32, 8, 4, 9973, backward, 4});
    all.push_back({Dtype::kFloat32, 1000, 100, 1, backward, 16});
    all.push_back({Dtype::kBFloat16, 32, 64, 28 * 28, backward, 16});
    all.push_back({Dtype::kFloat16, 8, 8, 9973, backward, 2});
  }
  return all;
}

TEST(CudnnLayers, DescriptorsOfEveryProblemAreFinished) {
  if (const std::string problem = cudnn_problem(); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  for (const auto& p : pooling_problems()) EXPECT_NO_THROW(pooling_graph(p, {})) << describe(p);
  for (const auto& p : norm_problems()) EXPECT_NO_THROW(batch_norm_graph(p, {})) << describe(p);
}

TEST(CudnnLayers, AnH100HasPlans) {
  std::string why = compiler_problem();
  const auto device = why.empty() ? described_h100(why) : nullptr;
  if (!device) GTEST_SKIP() << "skipped: " << why;
  const graph::Target target = {nullptr, device.get()};
  const auto expect_plans = [&](const graph::Graph& g, const rules::Arithmetic& arithmetic) {
    const graph::Proposals found = graph::proposals(g, target, arithmetic, 1, size_t{1} << 30);
    EXPECT_FALSE(found.plans.empty()) << g.what() << ": of " << found.considered << " engines " << found.kept << " were kept; " << found.trouble;
  };
  for (const auto& p : pooling_problems()) expect_plans(pooling_graph(p, target), p.arithmetic);
  for (const auto& p : norm_problems()) expect_plans(batch_norm_graph(p, target), {p.dtype, false, false});
}

}  // namespace
}  // namespace cudnn_test
