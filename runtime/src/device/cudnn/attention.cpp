// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/attention.hpp"

#include "device/cudnn/attention_graph.hpp"
#include "device/cudnn/graph/choice.hpp"
#include "device/cudnn/graph/planned.hpp"
#include "device/cudnn/handle.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <map>

namespace hvd::backends::cuda {

namespace {

/// Plans to compare; each is compiled when it is made.
constexpr size_t kMostAttentionPlans = 2;

using Bindings = std::vector<graph::Binding>;

graph::Planned& plans_of(cudnnHandle_t handle, const rules::AttentionProblem& problem) {
  static auto* const known = new std::map<rules::AttentionProblem, graph::Planned>;
  const auto place = known->find(problem);
  if (place != known->end()) return place->second;
  const auto make = [&] { return problem.backward ? attention_grad_graph(problem, {handle, nullptr}) : attention_graph(problem, {handle, nullptr}); };
  return known->try_emplace(problem, handle, describe(problem), problem.arithmetic, kMostAttentionPlans, make).first->second;
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
  graph::Planned& plans = plans_of(lock.handle(), problem);
  if (plans.none() || plans_of(lock.handle(), problem_of(dtype, shape, true)).none()) return false;
  const float scale = static_cast<float>(shape.scale);
  Bindings bindings = {{kAttentionQ, b.q}, {kAttentionK, b.k}, {kAttentionV, b.v}, {kAttentionOut, b.out}, {kAttentionStatistics, b.statistics},
                       {kAttentionScale, &scale}};
  if (b.mask) bindings.push_back({kAttentionMask, b.mask});
  return plans.run(lock.handle(), bindings);
}

void attend_grad(Dtype dtype, const Attention& shape, const AttentionGradBuffers& b) {
  const rules::AttentionProblem problem = problem_of(dtype, shape, true);
  const CudnnLock lock;
  graph::Planned& plans = plans_of(lock.handle(), problem);
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
  if (plans.none() || !plans.run(lock.handle(), bindings)) fail("cuDNN", (describe(problem) + ": no plan works").c_str());
}

}  // namespace hvd::backends::cuda
