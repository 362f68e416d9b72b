// SPDX-License-Identifier: Apache-2.0
//
// Attention as a graph: cuDNN's fused engines know it, and compile it for an H100. Each plan takes half a second.
#include "device/cudnn/attention_graph.hpp"
#include "device/cudnn/graph/plan.hpp"
#include "test/cudnn/described_gpu.hpp"

#include <gtest/gtest.h>

namespace cudnn_test {
namespace {

using namespace hvd::backends;
using namespace hvd::backends::cuda;
using hvd::Dtype;

/// Queries, keys and values in one buffer where they are as many, as the projection leaves them.
rules::AttentionProblem attention_problem(Dtype dtype, int64_t t, int64_t s, int64_t width, int64_t masks, bool backward, bool deterministic) {
  constexpr int64_t n = 4, heads = 8;
  const int64_t e = heads * width, step = t == s ? 3 * e : e;
  return {{dtype, deterministic, false}, {n, heads, t, s, width, 0.125, t * step, step, s * step, step, s * step, step, masks}, backward};
}

/// All problems with one change each from a usual one.
std::vector<rules::AttentionProblem> attention_problems() {
  std::vector<rules::AttentionProblem> all;
  for (const bool backward : {false, true}) {
    all.push_back(attention_problem(Dtype::kBFloat16, 256, 256, 64, 0, backward, false));
    all.push_back(attention_problem(Dtype::kFloat16, 256, 256, 64, 1, backward, false));
    all.push_back(attention_problem(Dtype::kBFloat16, 40, 72, 64, 4, backward, false));
    all.push_back(attention_problem(Dtype::kBFloat16, 37, 37, 32, 0, backward, false));
    all.push_back(attention_problem(Dtype::kBFloat16, 128, 128, 128, 1, backward, true));
  }
  return all;
}

graph::Graph graph_of(const rules::AttentionProblem& a, const graph::Target& target) {
  return a.backward ? attention_grad_graph(a, target) : attention_graph(a, target);
}

TEST(CudnnAttention, DescriptorsOfEveryProblemAreFinished) {
  if (const std::string problem = cudnn_problem(); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  for (const rules::AttentionProblem& a : attention_problems()) EXPECT_NO_THROW(graph_of(a, {})) << describe(a);
}

TEST(CudnnAttention, AnH100HasPlans) {
  std::string why = compiler_problem();
  const auto device = why.empty() ? described_h100(why) : nullptr;
  if (!device) GTEST_SKIP() << "skipped: " << why;
  for (const rules::AttentionProblem& a : attention_problems()) {
    ASSERT_TRUE(rules::fits_cudnn(a, 91900)) << describe(a);
    if (!rules::fits_cudnn(a, cudnnGetVersion())) continue;
    const graph::Target target = {nullptr, device.get()};
    const graph::Proposals found = graph::proposals(graph_of(a, target), target, a.arithmetic, 1, size_t{1} << 30);
    EXPECT_FALSE(found.plans.empty()) << describe(a) << ": of " << found.considered << " engines " << found.kept << " were kept; " << found.trouble;
  }
}

}  // namespace
}  // namespace cudnn_test
