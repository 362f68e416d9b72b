// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/attention.hpp"

#include "device/cudnn/attention_graph.hpp"
#include "device/cudnn/graph/choice.hpp"
#include "device/cudnn/graph/plan.hpp"
#include "device/cudnn/handle.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace hvd::backends::cuda {

namespace {

/// Plans to compare; each is compiled when it is made.
constexpr size_t kMostAttentionPlans = 3;

/// The plans of a problem, and the one that is used once some have been run.
struct Attended {
  std::unique_ptr<graph::Graph> graph;
  std::vector<graph::Plan> plans;
  std::optional<size_t> chosen;
};

using Bindings = std::vector<graph::Binding>;

/// Under the handle's lock. No plans: cuDNN has none.
Attended& plans_of(cudnnHandle_t handle, const rules::AttentionProblem& problem) {
  static auto* const known = new std::map<rules::AttentionProblem, Attended>;
  const auto [place, is_new] = known->try_emplace(problem);
  Attended& all = place->second;
  if (!is_new) return all;
  std::string trouble;
  try {
    const graph::Target target = {handle, nullptr};
    all.graph = std::make_unique<graph::Graph>(problem.backward ? attention_grad_graph(problem, target) : attention_graph(problem, target));
    graph::Proposals found = graph::proposals(*all.graph, target, problem.arithmetic, kMostAttentionPlans, kLargestWorkspace);
    trouble = found.trouble;
    all.plans = std::move(found.plans);
  } catch (const graph::Failure& failure) {
    trouble = failure.what();
  }
  if (all.plans.empty()) graph::report_none(describe(problem), trouble.empty() ? "no engine knows this graph" : trouble);
  return all;
}

/// Runs the plan that was chosen, or chooses one. False when none works.
bool run(cudnnHandle_t handle, const rules::AttentionProblem& problem, Attended& all, const Bindings& bindings) {
  const auto with = [&](size_t i) {
    const Workspace workspace(all.plans[i].workspace());
    all.plans[i].run(handle, bindings, workspace.data());
  };
  if (!all.chosen) {
    std::string trouble;
    all.chosen = graph::choose(all.plans.size(), !problem.arithmetic.deterministic, with, trouble);
    if (!all.chosen) {
      all.plans.clear();
      graph::report_none(describe(problem), trouble);
      return false;
    }
    graph::report(describe(problem), "engine " + std::to_string(all.plans[*all.chosen].engine()) + " of " + std::to_string(all.plans.size()) + " plans", "");
  }
  try {
    with(*all.chosen);
  } catch (const graph::Failure& failure) {
    fail("cuDNN", failure.in(describe(problem)).what());
  }
  return true;
}

rules::AttentionProblem problem_of(Dtype dtype, const Attention& shape, bool backward) {
  return {{dtype, context().deterministic, false}, shape, backward};
}

bool aligned(std::initializer_list<const void*> operands) {
  return std::all_of(operands.begin(), operands.end(), [](const void* operand) { return !operand || rules::alignment_of(operand) == 16; });
}

}  // namespace

bool attend(Dtype dtype, const Attention& shape, const AttentionBuffers& b) {
  const rules::AttentionProblem problem = problem_of(dtype, shape, false);
  if (graph::use() == graph::Use::kOff || !rules::fits_cudnn(problem, cudnnGetVersion())) return false;
  if (!aligned({b.q, b.k, b.v, b.mask, b.out, b.statistics})) return false;
  const CudnnLock lock;
  Attended& all = plans_of(lock.handle(), problem);
  if (all.plans.empty() || plans_of(lock.handle(), problem_of(dtype, shape, true)).plans.empty()) return false;
  const float scale = static_cast<float>(shape.scale);
  Bindings bindings = {{kAttentionQ, b.q}, {kAttentionK, b.k}, {kAttentionV, b.v}, {kAttentionOut, b.out}, {kAttentionStatistics, b.statistics},
                       {kAttentionScale, &scale}};
  if (b.mask) bindings.push_back({kAttentionMask, b.mask});
  return run(lock.handle(), problem, all, bindings);
}

void attend_grad(Dtype dtype, const Attention& shape, const AttentionGradBuffers& b) {
  const rules::AttentionProblem problem = problem_of(dtype, shape, true);
  const CudnnLock lock;
  Attended& all = plans_of(lock.handle(), problem);
  const float scale = static_cast<float>(shape.scale), one = 1;
  const Workspace sums(static_cast<size_t>(attention_sums(shape)) * sizeof(float));
  const Workspace accumulated(static_cast<size_t>(attention_accumulated(problem)) * sizeof(float));
  // Operands lie where the forward pass found them aligned; a gradient may begin anywhere.
  const size_t bytes = static_cast<size_t>(shape.n * shape.t * shape.heads * shape.width) * dtype_size(dtype);
  const bool copied = !aligned({b.grad});
  const Workspace copy(copied ? bytes : 0);
  if (copied) HVD_CUDA(cudaMemcpyAsync(copy.data(), b.grad, bytes, cudaMemcpyDefault, stream()));
  Bindings bindings = {{kAttentionQ, b.q},           {kAttentionK, b.k},           {kAttentionV, b.v},         {kAttentionOut, b.out},
                       {kAttentionStatistics, b.statistics}, {kAttentionScale, &scale}, {kAttentionOne, &one},   {kAttentionSums, sums.data()},
                       {kAttentionGrad, copied ? copy.data() : b.grad}, {kAttentionGradQ, b.grad_q}, {kAttentionGradK, b.grad_k}, {kAttentionGradV, b.grad_v}};
  if (b.mask) bindings.push_back({kAttentionMask, b.mask});
  if (accumulated.data()) bindings.push_back({kAttentionAccumulated, accumulated.data()});
  if (all.plans.empty() || !run(lock.handle(), problem, all, bindings)) fail("cuDNN", (describe(problem) + ": no plan works").c_str());
}

}  // namespace hvd::backends::cuda
