// SPDX-License-Identifier: Apache-2.0
//
// Graphs of average pooling and batch norm. No GPU is needed to build one.
#pragma once

#include "device/cudnn/graph/graph.hpp"
#include "device/cudnn/rules/pooling.hpp"

namespace hvd::backends::cuda {

/// Numbers of the tensors: the larger image and the smaller one, or their gradients.
inline constexpr int64_t kPoolX = 1, kPoolY = 2;
graph::Graph pooling_graph(const rules::PoolingProblem& p, const graph::Target& target);

/// A batch norm of float32 or 16-bit [n, c, inner].
struct BatchNormProblem {
  Dtype dtype;
  int64_t n, c, inner;
  bool backward;
  int64_t alignment;
  friend auto operator<=>(const BatchNormProblem&, const BatchNormProblem&) = default;
};
std::string describe(const BatchNormProblem& p);

/// Statistics, scale and bias are float32 [c]; kNormEpsilon is a number of the host (float).
inline constexpr int64_t kNormX = 1, kNormScale = 2, kNormBias = 3, kNormEpsilon = 4, kNormMean = 5, kNormInverseStd = 6, kNormY = 7, kNormGrad = 8,
                         kNormGradX = 9, kNormGradScale = 10, kNormGradBias = 11;
graph::Graph batch_norm_graph(const BatchNormProblem& p, const graph::Target& target);

}  // namespace hvd::backends::cuda
