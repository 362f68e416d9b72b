// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/layer_graphs.hpp"

#include <algorithm>
#include <sstream>

namespace hvd::backends::cuda {

graph::Graph pooling_graph(const rules::PoolingProblem& p, const graph::Target& target) {
  graph::Graph g(describe(p));
  const cudnnDataType_t type = graph::data_type(p.arithmetic.dtype, "avg_pool2d");
  const graph::PoolingSpec windows = {graph::sum_type(p.arithmetic.dtype),
                                      p.counts_padding ? CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING : CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING,
                                      CUDNN_ZERO_PAD,
                                      {p.kernel_h, p.kernel_w},
                                      {p.stride_h, p.stride_w},
                                      {p.pad_h, p.pad_w}};
  // Planes are channels of one image.
  const auto& x = g.tensor({kPoolX, type, {1, p.planes, p.h, p.w}, {p.planes * p.h * p.w, p.h * p.w, p.w, 1}, p.alignment});
  const auto& y = g.tensor({kPoolY, type, {1, p.planes, p.oh, p.ow}, {p.planes * p.oh * p.ow, p.oh * p.ow, p.ow, 1}, p.alignment});
  if (p.backward)
    g.pool_grad(windows, y, x);
  else
    g.pool(windows, x, y);
  g.finish(target);
  return g;
}

std::string describe(const BatchNormProblem& p) {
  std::ostringstream text;
  text << "batch norm" << (p.backward ? ", gradients" : "") << ", of " << dtype_name(p.dtype) << " [" << p.n << ", " << p.c << ", " << p.inner << "], aligned to " << p.alignment;
  return text.str();
}

graph::Graph batch_norm_graph(const BatchNormProblem& p, const graph::Target& target) {
  graph::Graph g(describe(p));
  const cudnnDataType_t type = graph::data_type(p.dtype, "batch_norm");
  const auto image = [&](int64_t uid) -> const graph::Descriptor& {
    return g.tensor({uid, type, {p.n, p.c, p.inner, 1}, {p.c * p.inner, p.inner, 1, 1}, p.alignment});
  };
  const int64_t singles = std::max<int64_t>(p.alignment, sizeof(float));
  const auto channels = [&](int64_t uid) -> const graph::Descriptor& { return g.tensor({uid, CUDNN_DATA_FLOAT, {1, p.c, 1, 1}, {p.c, 1, 1, 1}, singles}); };
  if (p.backward) {
    g.batch_norm_grad({&image(kNormX), &image(kNormGrad), &channels(kNormScale), &channels(kNormMean), &channels(kNormInverseStd), &image(kNormGradX),
                       &channels(kNormGradScale), &channels(kNormGradBias)});
  } else {
    graph::TensorSpec epsilon = {kNormEpsilon, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}};
    epsilon.by_value = true;
    g.batch_norm({&image(kNormX), &channels(kNormScale), &channels(kNormBias), &g.tensor(epsilon), &channels(kNormMean), &channels(kNormInverseStd),
                  &image(kNormY)});
  }
  g.finish(target);
  return g;
}

}  // namespace hvd::backends::cuda
