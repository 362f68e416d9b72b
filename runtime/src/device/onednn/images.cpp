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

namespace {

/// Takes in one entry of the windows of a row of outputs. The first of equal values stays, as does the first NaN.
template <int stride, class T>
void pool_entry(int64_t outputs, int64_t step, const T* x, int32_t position, T* largest, int32_t* winner) {
  const int64_t advance = stride ? stride : step;
#pragma omp simd
  for (int64_t i = 0; i < outputs; ++i) {
    const T value = x[i * advance];
    const bool wins = (value > largest[i]) | ((value != value) & (largest[i] == largest[i]));
    largest[i] = wins ? value : largest[i];
    winner[i] = wins ? position + static_cast<int32_t>(i * advance) : winner[i];
  }
}

/// Without padding every window lies inside: a row of outputs takes in one entry of all its windows after another.
template <class T>
void pool_inside(const Window2d& p, const T* x, T* y, int32_t* winner) {
  for (int64_t plane = 0; plane < p.n * p.c; ++plane, x += p.h * p.w)
    for (int64_t oy = 0; oy < p.oh; ++oy, y += p.ow, winner += p.ow) {
      const int64_t start = oy * p.stride_h * p.w;
      for (int64_t i = 0; i < p.ow; ++i) {
        winner[i] = static_cast<int32_t>(start + i * p.stride_w);
        y[i] = x[winner[i]];
      }
      for (int64_t entry = 1; entry < p.kh * p.kw; ++entry) {
        const int64_t at = start + entry / p.kw * p.w + entry % p.kw;
        if (p.stride_w == 2)
          pool_entry<2>(p.ow, 2, x + at, static_cast<int32_t>(at), y, winner);
        else
          pool_entry<0>(p.ow, p.stride_w, x + at, static_cast<int32_t>(at), y, winner);
      }
    }
}

}  // namespace

void OneDnn::max_pool2d(Dtype dtype, const Window2d& p, const void* x, void* y, int32_t* indices) const {
  if (p.pad_h || p.pad_w) return Cpu::max_pool2d(dtype, p, x, y, indices);
  dispatch_real("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    pool_inside(p, static_cast<const T*>(x), static_cast<T*>(y), indices);
  });
}

}  // namespace hvd::backends
