// SPDX-License-Identifier: Apache-2.0
//
// Layer norm (Ba, Kiros, Hinton 2016) along the rows of [rows, columns]; sums in float64.
#include "device/gpu/support.hpp"

#include <cmath>

namespace hvd::backends::gpu {

namespace {

// A thread takes N neighbours of a row at a time.

template <int N, class T>
void normalise(int64_t rows, int64_t columns, const T* in, const T* weight, const T* bias, double eps, T* out, double* mean, double* inverse_std) {
  const bool whole = packs_lie<N>(in) && packs_lie<N>(out);
  for_teams("layer_norm", rows, [=] HVD_KERNEL(int64_t r, const Team& team) {
    const T* x = in + r * columns;
    T* y = out + r * columns;
    const auto total = [=](auto f) {
      return team.reduce(
          0, columns / N, 0.0,
          [=](int64_t j) {
            const Pack<T, N> values = load_pack<N>(x + j * N, whole);
            double sum = 0;
            for (int k = 0; k < N; ++k) sum += f(static_cast<double>(values.at[k]));
            return sum;
          },
          Sum());
    };
    const double m = total([](double v) { return v; }) / static_cast<double>(columns);
    const double squares = total([=](double v) { return (v - m) * (v - m); });
    const double s = 1 / std::sqrt(squares / static_cast<double>(columns) + eps);
    team.each(columns / N, [=](int64_t i) {
      Pack<T, N> values = load_pack<N>(x + i * N, whole);
      for (int k = 0; k < N; ++k) {
        const int64_t j = i * N + k;
        const double scaled = (static_cast<double>(values.at[k]) - m) * s * (weight ? static_cast<double>(weight[j]) : 1.0);
        values.at[k] = static_cast<T>(scaled + (bias ? static_cast<double>(bias[j]) : 0.0));
      }
      store_pack<N>(y + i * N, values, whole);
    });
    team.once([&] {
      mean[r] = m;
      inverse_std[r] = s;
    });
  });
}

struct Sums {
  double plain, product;
};
struct AddSums {
  HVD_HD Sums operator()(const Sums& a, const Sums& b) const { return {a.plain + b.plain, a.product + b.product}; }
};

/// With u = g weight and n the normalised x: r (u - mean(u) - n mean(u n)).
template <int N, class T>
void grad_rows(int64_t rows, int64_t columns, const T* grad, const T* in, const T* weight, const double* means, const double* inverse_stds, T* out) {
  const bool whole = packs_lie<N>(grad) && packs_lie<N>(in) && packs_lie<N>(out);
  for_teams("layer_norm", rows, [=] HVD_KERNEL(int64_t row, const Team& team) {
    const T *g = grad + row * columns, *x = in + row * columns;
    T* gx = out + row * columns;
    const double mean = means[row], r = inverse_stds[row], n = static_cast<double>(columns);
    const auto factor = [=](int64_t j) { return weight ? static_cast<double>(weight[j]) : 1.0; };
    const Sums sums = team.reduce(
        0, columns / N, Sums{0, 0},
        [=](int64_t i) {
          const Pack<T, N> gs = load_pack<N>(g + i * N, whole), xs = load_pack<N>(x + i * N, whole);
          Sums some{0, 0};
          for (int k = 0; k < N; ++k) {
            const double u = static_cast<double>(gs.at[k]) * factor(i * N + k);
            some = AddSums()(some, {u, u * (static_cast<double>(xs.at[k]) - mean) * r});
          }
          return some;
        },
        AddSums());
    const double sum = sums.plain / n, product = sums.product / n;
    team.each(columns / N, [=](int64_t i) {
      const Pack<T, N> gs = load_pack<N>(g + i * N, whole), xs = load_pack<N>(x + i * N, whole);
      Pack<T, N> result;
      for (int k = 0; k < N; ++k) {
        const double u = static_cast<double>(gs.at[k]) * factor(i * N + k);
        result.at[k] = static_cast<T>(r * (u - sum - (static_cast<double>(xs.at[k]) - mean) * r * product));
      }
      store_pack<N>(gx + i * N, result, whole);
    });
  });
}

template <int N, class T>
void grad_weight_columns(const Backend& device, int64_t rows, int64_t columns, const T* g, const T* x, const double* mean, const double* inverse_std,
                         T* out) {
  const bool whole = packs_lie<N>(g) && packs_lie<N>(x);
  const auto term = [=] HVD_KERNEL(int64_t r, int64_t i, SumsOf<double, N>& sums) {
    const Pack<T, N> gs = load_pack<N>(g + i, whole), xs = load_pack<N>(x + i, whole);
    const double m = mean[r], s = inverse_std[r];
    for (int k = 0; k < N; ++k) sums.at[k] = static_cast<double>(gs.at[k]) * (static_cast<double>(xs.at[k]) - m) * s;
  };
  sum_columns<double, N>(device, "layer_norm", 1, rows, columns, term, out);
}

template <int N, class T>
void grad_bias_columns(const Backend& device, int64_t rows, int64_t columns, const T* g, T* out) {
  const bool whole = packs_lie<N>(g);
  const auto term = [=] HVD_KERNEL(int64_t, int64_t i, SumsOf<double, N>& sums) {
    const Pack<T, N> gs = load_pack<N>(g + i, whole);
    for (int k = 0; k < N; ++k) sums.at[k] = static_cast<double>(gs.at[k]);
  };
  sum_columns<double, N>(device, "layer_norm", 1, rows, columns, term, out);
}

}  // namespace

void Gpu::layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                     double* mean, double* inverse_std) const {
  dispatch_floating("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    with_packs<T>(columns, [&](auto count) {
      normalise<decltype(count)::value>(rows, columns, static_cast<const T*>(x), static_cast<const T*>(weight), static_cast<const T*>(bias), eps,
                                        static_cast<T*>(y), mean, inverse_std);
    });
  });
}

void Gpu::layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                          const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  dispatch_floating("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *g = static_cast<const T*>(grad), *in = static_cast<const T*>(x);
    if (grad_x)
      with_packs<T>(columns, [&](auto count) {
        grad_rows<decltype(count)::value>(rows, columns, g, in, static_cast<const T*>(weight), mean, inverse_std, static_cast<T*>(grad_x));
      });
    with_packs<T>(columns, [&](auto count) {
      constexpr int N = decltype(count)::value;
      if (grad_weight) grad_weight_columns<N>(*this, rows, columns, g, in, mean, inverse_std, static_cast<T*>(grad_weight));
      if (grad_bias) grad_bias_columns<N>(*this, rows, columns, g, static_cast<T*>(grad_bias));
    });
  });
}

}  // namespace hvd::backends::gpu
