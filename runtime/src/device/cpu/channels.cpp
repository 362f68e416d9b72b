// SPDX-License-Identifier: Apache-2.0
//
// Sums and maps per channel of [n, c, inner]: batch norm. Each (sample, channel) plane is summed by itself, planes are added
// in the order of the samples.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <algorithm>

namespace hvd::backends {

namespace {

template <class F>
void for_each_plane(int64_t n, int64_t c, int64_t inner, F&& f) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < c; ++j) f(j, (i * c + j) * inner);
}

}  // namespace

void Cpu::channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const {
  std::fill_n(sums, c, 0.0);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_plane(n, c, inner, [&](int64_t j, int64_t at) {
      const T* plane = static_cast<const T*>(x) + at;
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (int64_t i = 0; i < inner; ++i) total += static_cast<double>(plane[i]);
      sums[j] += total;
    });
  });
}

void Cpu::channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const {
  std::fill_n(sums, c, 0.0);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_plane(n, c, inner, [&](int64_t j, int64_t at) {
      const T* plane = static_cast<const T*>(x) + at;
      const double m = mean[j];
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (int64_t i = 0; i < inner; ++i) total += (static_cast<double>(plane[i]) - m) * (static_cast<double>(plane[i]) - m);
      sums[j] += total;
    });
  });
}

void Cpu::channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean,
                           double* sums, double* products) const {
  std::fill_n(sums, c, 0.0);
  std::fill_n(products, c, 0.0);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_plane(n, c, inner, [&](int64_t j, int64_t at) {
      const T* g = static_cast<const T*>(grad) + at;
      const T* plane = static_cast<const T*>(x) + at;
      const double m = mean[j];
      double sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
      for (int64_t i = 0; i < inner; ++i) {
        sum += static_cast<double>(g[i]);
        product += static_cast<double>(g[i]) * (static_cast<double>(plane[i]) - m);
      }
      sums[j] += sum;
      products[j] += product;
    });
  });
}

void Cpu::channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift,
                         void* y) const {
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_plane(n, c, inner, [&](int64_t j, int64_t at) {
      const T* in = static_cast<const T*>(x) + at;
      T* out = static_cast<T*>(y) + at;
      const T a = static_cast<T>(scale[j]), b = static_cast<T>(shift[j]);
#pragma omp simd
      for (int64_t i = 0; i < inner; ++i) out[i] = a * in[i] + b;
    });
  });
}

void Cpu::channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a,
                          const double* b, const double* s, void* y) const {
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_plane(n, c, inner, [&](int64_t j, int64_t at) {
      const T* g = static_cast<const T*>(grad) + at;
      const T* in = static_cast<const T*>(x) + at;
      T* out = static_cast<T*>(y) + at;
      const T ca = static_cast<T>(a[j]), cb = static_cast<T>(b[j]), cs = static_cast<T>(s[j]);
#pragma omp simd
      for (int64_t i = 0; i < inner; ++i) out[i] = ca * g[i] + cb * in[i] + cs;
    });
  });
}

}  // namespace hvd::backends
