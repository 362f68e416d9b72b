// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/rules/convolution.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace hvd::backends::cuda::rules {

namespace {

auto key(const Convolution& c) {
  const Window2d& w = c.window;
  return std::tuple(c.product, c.arithmetic, c.bias, c.alignment, w.n, w.c, w.h, w.w, w.k, w.kh, w.kw, w.stride_h, w.stride_w, w.pad_h, w.pad_w, w.oh,
                    w.ow, w.dilation_h, w.dilation_w, w.groups);
}

int64_t outputs(int64_t extent, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  return (extent + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

std::string listed(const std::array<int64_t, 4>& size) {
  std::string text = "[";
  for (const int64_t extent : size) text += std::to_string(extent) + ", ";
  text.resize(text.size() - 2);
  return text + "]";
}
std::string pair(int64_t a, int64_t b) { return std::to_string(a) + " " + std::to_string(b); }

}  // namespace

const char* name_of(Layout layout) { return layout == Layout::kNchw ? "NCHW" : "NHWC"; }

Image image(Layout layout, int64_t n, int64_t c, int64_t h, int64_t w) {
  if (layout == Layout::kNchw) return {{n, c, h, w}, {c * h * w, h * w, w, 1}};
  return {{n, c, h, w}, {c * h * w, 1, w * c, c}};
}

bool operator<(const Convolution& a, const Convolution& b) { return key(a) < key(b); }

std::string describe(const Convolution& c) {
  const Window2d& w = c.window;
  const char* const product = c.product == Product::kForward ? "forward" : c.product == Product::kGradInput ? "gradient of the input" : "gradient of the weight";
  return std::string("convolution, ") + product + ", of " + dtype_name(c.arithmetic.dtype) + (c.arithmetic.tf32 ? " (TF32)" : "") + " " +
         listed(input_of(w, Layout::kNchw).size) + " with " + listed(weight_of(w, Layout::kNchw).size) + ", stride " + pair(w.stride_h, w.stride_w) +
         ", padding " + pair(w.pad_h, w.pad_w) + ", dilation " + pair(w.dilation_h, w.dilation_w) + ", groups " + std::to_string(w.groups) +
         (c.bias ? ", with bias" : "") + (c.arithmetic.deterministic ? ", deterministic" : "") + ", aligned to " + std::to_string(c.alignment);
}

Image input_of(const Window2d& w, Layout layout) { return image(layout, w.n, w.c, w.h, w.w); }
Image weight_of(const Window2d& w, Layout layout) { return image(layout, w.k, w.c / w.groups, w.kh, w.kw); }
Image output_of(const Window2d& w, Layout layout) { return image(layout, w.n, w.k, w.oh, w.ow); }
Image bias_of(const Window2d& w, Layout layout) { return image(layout, 1, w.k, 1, 1); }

bool fits_cudnn(const Window2d& p) {
  if (std::min({p.n, p.c, p.h, p.w, p.k, p.kh, p.kw, p.oh, p.ow, p.groups}) < 1) return false;
  // Of a transposed convolution's extra rows and columns cuDNN takes fewer than the stride; our own kernels take all.
  if (p.oh != outputs(p.h, p.kh, p.stride_h, p.pad_h, p.dilation_h) || p.ow != outputs(p.w, p.kw, p.stride_w, p.pad_w, p.dilation_w)) return false;
  const int64_t most = std::max({p.n * p.c * p.h * p.w, p.n * p.k * p.oh * p.ow, p.k * (p.c / p.groups) * p.kh * p.kw});
  return most <= INT32_MAX && std::max({p.pad_h, p.pad_w, p.stride_h, p.stride_w, p.dilation_h, p.dilation_w}) <= INT32_MAX;
}

std::vector<Layout> layouts(const Convolution& c) {
  const bool low = is_low_precision(c.arithmetic.dtype);
  const bool tensor_cores = low || (c.arithmetic.dtype == Dtype::kFloat32 && c.arithmetic.tf32);
  const int64_t whole = low ? 8 : 4;  // of a pixel's channels in 16 bytes
  const Window2d& w = c.window;
  if (!tensor_cores || w.c / w.groups % whole != 0 || w.k / w.groups % whole != 0) return {Layout::kNchw};
  return {Layout::kNhwc, Layout::kNchw};
}

}  // namespace hvd::backends::cuda::rules
