// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/convolution_graph.hpp"

namespace hvd::backends::cuda {

namespace {

graph::TensorSpec spec(int64_t uid, cudnnDataType_t type, const rules::Image& image, int64_t alignment) {
  return {uid, type, {image.size.begin(), image.size.end()}, {image.stride.begin(), image.stride.end()}, alignment};
}

}  // namespace

graph::Graph convolution_graph(const rules::Convolution& c, rules::Layout layout, bool fused, const graph::Target& target) {
  const Window2d& w = c.window;
  graph::Graph g(describe(c) + ", " + name_of(layout) + (fused ? ", bias fused" : ""));
  const cudnnDataType_t type = graph::data_type(c.arithmetic.dtype, "conv2d"), sums = graph::sum_type(c.arithmetic.dtype);
  // Copies in another layout begin where a block of memory does.
  const int64_t alignment = layout == rules::Layout::kNhwc ? 16 : c.alignment;
  const graph::ConvolutionSpec window = {sums, {w.stride_h, w.stride_w}, {w.pad_h, w.pad_w}, {w.dilation_h, w.dilation_w}};
  const graph::Descriptor& x = g.tensor(spec(kConvX, type, rules::input_of(w, layout), alignment));
  const graph::Descriptor& weight = g.tensor(spec(kConvWeight, type, rules::weight_of(w, layout), alignment));
  const graph::Descriptor& y = g.tensor(spec(kConvY, type, rules::output_of(w, layout), alignment));
  switch (c.product) {
    case rules::Product::kForward:
      if (fused) {
        graph::TensorSpec between = spec(kConvBias + 1, sums, rules::output_of(w, layout), 16);
        between.is_virtual = true;
        const graph::Descriptor& sum = g.tensor(between);
        g.convolve(window, x, weight, sum);
        g.pointwise(CUDNN_POINTWISE_ADD, sums, sum, g.tensor(spec(kConvBias, type, rules::bias_of(w, layout), c.alignment)), y);
      } else {
        g.convolve(window, x, weight, y);
      }
      break;
    case rules::Product::kGradInput: g.convolve_grad_input(window, y, weight, x); break;
    case rules::Product::kGradWeight: g.convolve_grad_weight(window, y, x, weight); break;
  }
  g.finish(target);
  return g;
}

}  // namespace hvd::backends::cuda
