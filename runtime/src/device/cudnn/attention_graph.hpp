// SPDX-License-Identifier: Apache-2.0
//
// Attention and its gradients as graphs that cuDNN's fused engines know. No GPU is needed to build one.
#pragma once

#include "device/cudnn/graph/graph.hpp"
#include "device/cudnn/rules/attention.hpp"

namespace hvd::backends::cuda {

/// Numbers of the tensors. kScale and kOne are numbers of the host (float); kSums and kAccumulated are memory for the time of the operation.
inline constexpr int64_t kAttentionQ = 1, kAttentionK = 2, kAttentionV = 3, kAttentionMask = 4, kAttentionOut = 5, kAttentionStatistics = 6, kAttentionScale = 7,
                         kAttentionGrad = 8, kAttentionGradQ = 9, kAttentionGradK = 10, kAttentionGradV = 11, kAttentionSums = 12,
                         kAttentionAccumulated = 13, kAttentionOne = 14;

graph::Graph attention_graph(const rules::AttentionProblem& a, const graph::Target& target);
/// In deterministic mode the gradient of q is summed in a fixed order, without kAttentionAccumulated.
graph::Graph attention_grad_graph(const rules::AttentionProblem& a, const graph::Target& target);

/// Elements (float32) of the memory for the time of the operation.
int64_t attention_sums(const Attention& shape);
int64_t attention_accumulated(const rules::AttentionProblem& a);

}  // namespace hvd::backends::cuda
