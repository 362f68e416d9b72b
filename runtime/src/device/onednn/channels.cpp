// SPDX-License-Identifier: Apache-2.0
//
// Sums and maps per channel of [n, c, inner], float32. A channel's sums belong to one thread, which adds the planes in the order of the samples.
#include "device/onednn/kernels.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/parallel.hpp"

namespace hvd::backends {

namespace {

const float* floats(const void* data) { return static_cast<const float*>(data); }
float* floats(void* data) { return static_cast<float*>(data); }

}  // namespace

void OneDnn::channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const {
  if (dtype != Dtype::kFloat32) return Cpu::channel_sums(dtype, n, c, inner, x, sums);
  parallel_for(c, n * inner, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      sums[j] = 0;
      for (int64_t i = 0; i < n; ++i) sums[j] += kernels().plane_sum(inner, floats(x) + (i * c + j) * inner);
    }
  });
}

void OneDnn::channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const {
  if (dtype != Dtype::kFloat32) return Cpu::channel_squares(dtype, n, c, inner, x, mean, sums);
  parallel_for(c, n * inner, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      sums[j] = 0;
      for (int64_t i = 0; i < n; ++i) sums[j] += kernels().plane_squares(inner, floats(x) + (i * c + j) * inner, mean[j]);
    }
  });
}

void OneDnn::channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean, double* sums,
                              double* products) const {
  if (dtype != Dtype::kFloat32) return Cpu::channel_products(dtype, n, c, inner, grad, x, mean, sums, products);
  parallel_for(c, 2 * n * inner, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      sums[j] = products[j] = 0;
      for (int64_t i = 0; i < n; ++i)
        kernels().plane_products(inner, floats(grad) + (i * c + j) * inner, floats(x) + (i * c + j) * inner, mean[j], sums + j, products + j);
    }
  });
}

void OneDnn::channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift, void* y) const {
  if (dtype != Dtype::kFloat32) return Cpu::channel_affine(dtype, n, c, inner, x, scale, shift, y);
  parallel_for(n * c, inner, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane)
      kernels().plane_affine(inner, floats(x) + plane * inner, static_cast<float>(scale[plane % c]), static_cast<float>(shift[plane % c]),
                             floats(y) + plane * inner);
  });
}

void OneDnn::channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a, const double* b,
                             const double* s, void* y) const {
  if (dtype != Dtype::kFloat32) return Cpu::channel_combine(dtype, n, c, inner, grad, x, a, b, s, y);
  parallel_for(n * c, inner, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t j = plane % c;
      kernels().plane_combine(inner, floats(grad) + plane * inner, floats(x) + plane * inner, static_cast<float>(a[j]), static_cast<float>(b[j]),
                              static_cast<float>(s[j]), floats(y) + plane * inner);
    }
  });
}

}  // namespace hvd::backends
