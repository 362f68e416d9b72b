// SPDX-License-Identifier: Apache-2.0
//
// Sums and maps per channel of [n, c, inner]: batch norm.
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

struct Pair {
  double first, second;
};
struct AddPairs {
  HVD_HD Pair operator()(const Pair& a, const Pair& b) const { return {a.first + b.first, a.second + b.second}; }
};

/// Element j of channel s of [n, c, inner].
HVD_HD inline int64_t in_channel(int64_t c, int64_t inner, int64_t s, int64_t j) {
  const int64_t sample = quotient(j, inner);
  return (sample * c + s) * inner + j - sample * inner;
}
HVD_HD inline int64_t channel_of(int64_t c, int64_t inner, int64_t i) {
  const int64_t plane = quotient(i, inner);
  return plane - quotient(plane, c) * c;
}

template <class T>
void sums_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, double* sums) {
  reduce(
      device, "batch_norm", c, n * inner, inner == 1, 0.0,
      [=] HVD_KERNEL(int64_t s, int64_t j) { return static_cast<double>(x[in_channel(c, inner, s, j)]); }, Sum(),
      [=] HVD_KERNEL(int64_t s, const double& total) { sums[s] = total; });
}

template <class T>
void squares_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, const double* mean, double* sums) {
  reduce(
      device, "batch_norm", c, n * inner, inner == 1, 0.0,
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const double d = static_cast<double>(x[in_channel(c, inner, s, j)]) - mean[s];
        return d * d;
      },
      Sum(), [=] HVD_KERNEL(int64_t s, const double& total) { sums[s] = total; });
}

template <class T>
void products_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* g, const T* x, const double* mean, double* sums,
                 double* products) {
  reduce(
      device, "batch_norm", c, n * inner, inner == 1, Pair{0, 0},
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const int64_t i = in_channel(c, inner, s, j);
        const double gradient = static_cast<double>(g[i]);
        return Pair{gradient, gradient * (static_cast<double>(x[i]) - mean[s])};
      },
      AddPairs(),
      [=] HVD_KERNEL(int64_t s, const Pair& total) {
        sums[s] = total.first;
        products[s] = total.second;
      });
}

template <class T>
void affine(int64_t n, int64_t c, int64_t inner, const T* x, const double* scale, const double* shift, T* y) {
  for_each("batch_norm", n, [=] HVD_KERNEL(int64_t i) {
    const int64_t j = channel_of(c, inner, i);
    y[i] = static_cast<T>(scale[j]) * x[i] + static_cast<T>(shift[j]);
  });
}

template <class T>
void combined(int64_t n, int64_t c, int64_t inner, const T* g, const T* x, const double* a, const double* b, const double* s, T* y) {
  for_each("batch_norm", n, [=] HVD_KERNEL(int64_t i) {
    const int64_t j = channel_of(c, inner, i);
    y[i] = static_cast<T>(a[j]) * g[i] + static_cast<T>(b[j]) * x[i] + static_cast<T>(s[j]);
  });
}

}  // namespace

void Gpu::channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const {
  const Scratch<double> result(*this, c);
  dispatch_real("batch_norm", dtype, [&](auto zero) { sums_of(*this, n, c, inner, static_cast<const decltype(zero)*>(x), result.data()); });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const {
  const Scratch<double> about(*this, mean, c), result(*this, c);
  dispatch_real("batch_norm", dtype,
                [&](auto zero) { squares_of(*this, n, c, inner, static_cast<const decltype(zero)*>(x), about.data(), result.data()); });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean, double* sums,
                           double* products) const {
  const Scratch<double> about(*this, mean, c), result(*this, 2 * c);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    products_of(*this, n, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), about.data(), result.data(), result.data() + c);
  });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
  to_host(products, result.data() + c, static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift, void* y) const {
  const Scratch<double> scales(*this, scale, c), shifts(*this, shift, c);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    affine(n * c * inner, c, inner, static_cast<const T*>(x), scales.data(), shifts.data(), static_cast<T*>(y));
  });
}

void Gpu::channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a, const double* b,
                          const double* s, void* y) const {
  const Scratch<double> as(*this, a, c), bs(*this, b, c), ss(*this, s, c);
  dispatch_real("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    combined(n * c * inner, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), as.data(), bs.data(), ss.data(), static_cast<T*>(y));
  });
}

}  // namespace hvd::backends::gpu
