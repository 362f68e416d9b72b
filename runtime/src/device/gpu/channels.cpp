// SPDX-License-Identifier: Apache-2.0
//
// Sums and maps per channel of [n, c, inner]: batch norm.
#include "device/gpu/support.hpp"

#include <cmath>

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

// Below, N elements of a channel that lie side by side are added first, by one thread: where they may be loaded at once and where not.

template <int N, class T, class Out>
void sums_of(const Backend& device, const char* name, int64_t n, int64_t c, int64_t inner, const T* x, Out* sums) {
  const bool whole = packs_lie<N>(x);
  reduce(
      device, name, c, n * inner / N, inner == 1, 0.0,
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const Pack<T, N> values = load_pack<N>(x + in_channel(c, inner, s, j * N), whole);
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += static_cast<double>(values.at[k]);
        return sum;
      },
      Sum(), [=] HVD_KERNEL(int64_t s, const double& total) { sums[s] = static_cast<Out>(total); });
}

template <int N, class T>
void squares_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, const double* mean, double* sums) {
  const bool whole = packs_lie<N>(x);
  reduce(
      device, "batch_norm", c, n * inner / N, inner == 1, 0.0,
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const Pack<T, N> values = load_pack<N>(x + in_channel(c, inner, s, j * N), whole);
        const double about = mean[s];
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += (static_cast<double>(values.at[k]) - about) * (static_cast<double>(values.at[k]) - about);
        return sum;
      },
      Sum(), [=] HVD_KERNEL(int64_t s, const double& total) { sums[s] = total; });
}

template <int N, class T>
void products_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* g, const T* x, const double* mean, double* sums,
                 double* products) {
  const bool whole = packs_lie<N>(g) && packs_lie<N>(x);
  reduce(
      device, "batch_norm", c, n * inner / N, inner == 1, Pair{0, 0},
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const int64_t i = in_channel(c, inner, s, j * N);
        const Pack<T, N> gradients = load_pack<N>(g + i, whole), values = load_pack<N>(x + i, whole);
        const double about = mean[s];
        Pair sum{0, 0};
        for (int k = 0; k < N; ++k) {
          const double gradient = static_cast<double>(gradients.at[k]);
          sum.first += gradient;
          sum.second += gradient * (static_cast<double>(values.at[k]) - about);
        }
        return sum;
      },
      AddPairs(),
      [=] HVD_KERNEL(int64_t s, const Pair& total) {
        sums[s] = total.first;
        products[s] = total.second;
      });
}

template <class T>
void sums_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, double* sums) {
  with_packs<T>(inner, [&](auto count) { sums_of<decltype(count)::value>(device, "batch_norm", n, c, inner, x, sums); });
}
template <class T>
void squares_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, const double* mean, double* sums) {
  with_packs<T>(inner, [&](auto count) { squares_of<decltype(count)::value>(device, n, c, inner, x, mean, sums); });
}
template <class T>
void products_of(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* g, const T* x, const double* mean, double* sums, double* products) {
  with_packs<T>(inner, [&](auto count) { products_of<decltype(count)::value>(device, n, c, inner, g, x, mean, sums, products); });
}
template <class T>
void sums_in(const Backend& device, int64_t n, int64_t c, int64_t inner, const T* x, T* sums) {
  with_packs<T>(inner, [&](auto count) { sums_of<decltype(count)::value>(device, "sum", n, c, inner, x, sums); });
}

/// From sums to a mean, from squares to the other statistics; and scale and shift of y = scale x + shift.
template <class T>
void finish_statistics(int64_t c, double count, double eps, const T* weight, const T* bias, const double* mean, double* variance,
                       double* inverse_std, double* scale, double* shift) {
  for_each("batch_norm", c, [=] HVD_KERNEL(int64_t j) {
    variance[j] /= count;
    inverse_std[j] = 1 / std::sqrt(variance[j] + eps);
    scale[j] = (weight ? static_cast<double>(weight[j]) : 1.0) * inverse_std[j];
    shift[j] = (bias ? static_cast<double>(bias[j]) : 0.0) - mean[j] * scale[j];
  });
}
inline void divide_all(int64_t c, double by, double* values) {
  for_each("batch_norm", c, [=] HVD_KERNEL(int64_t j) { values[j] /= by; });
}

/// Factors of a g + b x + s, and the gradients of the parameters where they are wanted.
template <class T>
void finish_gradients(int64_t c, double count, const T* weight, const double* mean, const double* inverse_std, const double* sums,
                      const double* products, double* a, double* b, double* s, T* grad_weight, T* grad_bias) {
  for_each("batch_norm", c, [=] HVD_KERNEL(int64_t j) {
    a[j] = (weight ? static_cast<double>(weight[j]) : 1.0) * inverse_std[j];
    b[j] = -a[j] * inverse_std[j] * inverse_std[j] * products[j] / count;
    s[j] = -a[j] * sums[j] / count - b[j] * mean[j];
    if (grad_weight) grad_weight[j] = static_cast<T>(products[j] * inverse_std[j]);
    if (grad_bias) grad_bias[j] = static_cast<T>(sums[j]);
  });
}

template <class T>
void affine(int64_t n, int64_t c, int64_t inner, const T* x, const double* scale, const double* shift, T* y) {
  constexpr int kPack = pack_of<T>();
  for_packs<kPack>("batch_norm", n, inner % kPack == 0 && packs_lie<kPack>(x) && packs_lie<kPack>(y), [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    using V = float_of<T>;
    const int64_t j = channel_of(c, inner, i);
    const V factor = static_cast<V>(scale[j]), term = static_cast<V>(shift[j]);
    Pack<T, N> pack = load_pack<N>(x + i, true);
    for (int k = 0; k < N; ++k) pack.at[k] = static_cast<T>(factor * static_cast<V>(pack.at[k]) + term);
    store_pack<N>(y + i, pack, true);
  });
}

template <class T>
void combined(int64_t n, int64_t c, int64_t inner, const T* g, const T* x, const double* a, const double* b, const double* s, T* y) {
  constexpr int kPack = pack_of<T>();
  const bool whole = inner % kPack == 0 && packs_lie<kPack>(g) && packs_lie<kPack>(x) && packs_lie<kPack>(y);
  for_packs<kPack>("batch_norm", n, whole, [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    using V = float_of<T>;
    const int64_t j = channel_of(c, inner, i);
    const V of_g = static_cast<V>(a[j]), of_x = static_cast<V>(b[j]), term = static_cast<V>(s[j]);
    Pack<T, N> pack = load_pack<N>(g + i, true);
    const Pack<T, N> values = load_pack<N>(x + i, true);
    for (int k = 0; k < N; ++k) pack.at[k] = static_cast<T>(of_g * static_cast<V>(pack.at[k]) + of_x * static_cast<V>(values.at[k]) + term);
    store_pack<N>(y + i, pack, true);
  });
}

}  // namespace

void Gpu::channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const {
  const Scratch<double> result(*this, c);
  dispatch_floating("batch_norm", dtype, [&](auto zero) { sums_of(*this, n, c, inner, static_cast<const decltype(zero)*>(x), result.data()); });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const {
  const Scratch<double> about(*this, mean, c), result(*this, c);
  dispatch_floating("batch_norm", dtype,
                [&](auto zero) { squares_of(*this, n, c, inner, static_cast<const decltype(zero)*>(x), about.data(), result.data()); });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean, double* sums,
                           double* products) const {
  const Scratch<double> about(*this, mean, c), result(*this, 2 * c);
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    products_of(*this, n, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), about.data(), result.data(), result.data() + c);
  });
  to_host(sums, result.data(), static_cast<size_t>(c) * sizeof(double));
  to_host(products, result.data() + c, static_cast<size_t>(c) * sizeof(double));
}

void Gpu::channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift, void* y) const {
  const Scratch<double> scales(*this, scale, c), shifts(*this, shift, c);
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    affine(n * c * inner, c, inner, static_cast<const T*>(x), scales.data(), shifts.data(), static_cast<T*>(y));
  });
}

void Gpu::channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a, const double* b,
                          const double* s, void* y) const {
  const Scratch<double> as(*this, a, c), bs(*this, b, c), ss(*this, s, c);
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    combined(n * c * inner, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), as.data(), bs.data(), ss.data(), static_cast<T*>(y));
  });
}

bool Gpu::channel_sums_on_device(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, void* sums) const {
  dispatch_floating("sum", dtype, [&](auto zero) {
    using T = decltype(zero);
    sums_in(*this, n, c, inner, static_cast<const T*>(x), static_cast<T*>(sums));
  });
  return true;
}

void Gpu::widen_statistics(int64_t c, double eps, const float* mean, const float* inverse_std, double* mean_out, double* variance,
                           double* inverse_std_out) const {
  for_each("batch_norm", c, [=] HVD_KERNEL(int64_t j) {
    const double inverse = static_cast<double>(inverse_std[j]), v = 1 / (inverse * inverse) - eps;
    mean_out[j] = static_cast<double>(mean[j]);
    variance[j] = v < 0 ? 0 : v;
    inverse_std_out[j] = inverse;
  });
}

bool Gpu::batch_norm(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps,
                     void* y, double* mean, double* variance, double* inverse_std) const {
  const Scratch<double> factors(*this, 2 * c);
  double *const scale = factors.data(), *const shift = scale + c, count = static_cast<double>(n * inner);
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    const auto* in = static_cast<const decltype(zero)*>(x);
    sums_of(*this, n, c, inner, in, mean);
    divide_all(c, count, mean);
    squares_of(*this, n, c, inner, in, mean, variance);
  });
  dispatch_floating("batch_norm", params, [&](auto zero) {
    using P = decltype(zero);
    finish_statistics(c, count, eps, static_cast<const P*>(weight), static_cast<const P*>(bias), mean, variance, inverse_std, scale, shift);
  });
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    affine(n * c * inner, c, inner, static_cast<const T*>(x), scale, shift, static_cast<T*>(y));
  });
  return true;
}

bool Gpu::batch_norm_grad(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight,
                          const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  const Scratch<double> numbers(*this, 5 * c);
  double *const sums = numbers.data(), *const products = sums + c, *const a = products + c, *const b = a + c, *const s = b + c;
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    products_of(*this, n, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), mean, sums, products);
  });
  dispatch_floating("batch_norm", params, [&](auto zero) {
    using P = decltype(zero);
    finish_gradients(c, static_cast<double>(n * inner), static_cast<const P*>(weight), mean, inverse_std, sums, products, a, b, s,
                     static_cast<P*>(grad_weight), static_cast<P*>(grad_bias));
  });
  if (!grad_x) return true;
  dispatch_floating("batch_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    combined(n * c * inner, c, inner, static_cast<const T*>(grad), static_cast<const T*>(x), a, b, s, static_cast<T*>(grad_x));
  });
  return true;
}

}  // namespace hvd::backends::gpu
