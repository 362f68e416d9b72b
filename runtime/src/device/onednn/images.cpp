// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/dispatch.hpp"
#include "device/onednn/conv_dnnl.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/unfold.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hvd::backends {

namespace {

/// Extents of the products that make up a convolution of one image: one product for each group of channels.
struct Products {
  int64_t groups, k, depth, outputs, image;
  explicit Products(const Window2d& p)
      : groups(p.groups), k(p.k / p.groups), depth(p.c / p.groups * p.kh * p.kw), outputs(p.oh * p.ow), image(p.c * p.h * p.w) {}
  int64_t columns() const { return groups * depth * outputs; }
  int64_t out() const { return groups * k * outputs; }
  // Starts of group g in the columns, in the weights and in the outputs of an image.
  int64_t column_at(int64_t g) const { return g * depth * outputs; }
  int64_t weight_at(int64_t g) const { return g * k * depth; }
  int64_t out_at(int64_t g) const { return g * k * outputs; }
};

}  // namespace

void OneDnn::conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  if (dtype == Dtype::kFloat32 && dnnl_conv2d(dtype, p, x, weight, bias, y)) return;
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    std::vector<T> columns(s.columns());
    for (int64_t n = 0; n < p.n; ++n) {
      T* out = static_cast<T*>(y) + n * s.out();
      if (bias)
        for (int64_t k = 0; k < p.k; ++k) std::fill_n(out + k * s.outputs, s.outputs, static_cast<const T*>(bias)[k]);
      unfold(p, static_cast<const T*>(x) + n * s.image, columns.data());
      for (int64_t g = 0; g < s.groups; ++g)
        gemm(dtype, false, false, s.k, s.outputs, s.depth, static_cast<const T*>(weight) + s.weight_at(g), s.depth,
             columns.data() + s.column_at(g), s.outputs, bias ? 1 : 0, out + s.out_at(g), s.outputs);
    }
  });
}

void OneDnn::conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  if (dtype == Dtype::kFloat32 && dnnl_conv2d_grad_input(dtype, p, grad, weight, grad_x)) return;
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    std::vector<T> columns(s.columns());
    std::fill_n(static_cast<T*>(grad_x), p.n * s.image, T(0));
    for (int64_t n = 0; n < p.n; ++n) {
      for (int64_t g = 0; g < s.groups; ++g)
        gemm(dtype, true, false, s.depth, s.outputs, s.k, static_cast<const T*>(weight) + s.weight_at(g), s.depth,
             static_cast<const T*>(grad) + n * s.out() + s.out_at(g), s.outputs, 0, columns.data() + s.column_at(g), s.outputs);
      fold_add(p, columns.data(), static_cast<T*>(grad_x) + n * s.image);
    }
  });
}

void OneDnn::conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) const {
  if (dtype == Dtype::kFloat32 && dnnl_conv2d_grad_weight(dtype, p, grad, x, grad_weight)) return;
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    std::vector<T> columns(s.columns());
    std::fill_n(static_cast<T*>(grad_weight), p.k * s.depth, T(0));
    for (int64_t n = 0; n < p.n; ++n) {
      unfold(p, static_cast<const T*>(x) + n * s.image, columns.data());
      for (int64_t g = 0; g < s.groups; ++g)
        gemm(dtype, false, true, s.k, s.depth, s.outputs, static_cast<const T*>(grad) + n * s.out() + s.out_at(g), s.outputs,
             columns.data() + s.column_at(g), s.outputs, 1, static_cast<T*>(grad_weight) + s.weight_at(g), s.depth);
    }
  });
}

}  // namespace hvd::backends
