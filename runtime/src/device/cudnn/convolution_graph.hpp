// SPDX-License-Identifier: Apache-2.0
//
// The graph of a convolution's product. No GPU is needed to build one.
#pragma once

#include "device/cudnn/graph/graph.hpp"
#include "device/cudnn/rules/convolution.hpp"

namespace hvd::backends::cuda {

/// Numbers of the tensors in convolution_graph().
inline constexpr int64_t kConvX = 1, kConvWeight = 2, kConvY = 3, kConvBias = 4;

/// With `fused` the bias is added before the result is rounded.
graph::Graph convolution_graph(const rules::Convolution& c, rules::Layout layout, bool fused, const graph::Target& target);

}  // namespace hvd::backends::cuda
