// SPDX-License-Identifier: Apache-2.0
//
// Layer norm (Ba, Kiros, Hinton 2016) along the rows of [rows, columns]; sums in float64.
#include "device/gpu/support.hpp"

#include <cmath>

namespace hvd::backends::gpu {

namespace {

template <class T>
void normalise(int64_t rows, int64_t columns, const T* in, const T* weight, const T* bias, double eps, T* out, double* mean, double* inverse_std) {
  for_teams("layer_norm", rows, [=] HVD_KERNEL(int64_t r, const Team& team) {
    const T* x = in + r * columns;
    T* y = out + r * columns;
    const double m = team.reduce(0, columns, 0.0, [=](int64_t j) { return static_cast<double>(x[j]); }, Sum()) / static_cast<double>(columns);
    const double squares = team.reduce(
        0, columns, 0.0, [=](int64_t j) { return (static_cast<double>(x[j]) - m) * (static_cast<double>(x[j]) - m); }, Sum());
    const double s = 1 / std::sqrt(squares / static_cast<double>(columns) + eps);
    team.each(columns, [=](int64_t j) {
      const double scaled = (static_cast<double>(x[j]) - m) * s * (weight ? static_cast<double>(weight[j]) : 1.0);
      y[j] = static_cast<T>(scaled + (bias ? static_cast<double>(bias[j]) : 0.0));
    });
    team.once([&] {
      mean[r] = m;
      inverse_std[r] = s;
    });
  });
}

/// With u = g weight and n the normalised x: r (u - mean(u) - n mean(u n)).
template <class T>
void grad_rows(int64_t rows, int64_t columns, const T* grad, const T* in, const T* weight, const double* means, const double* inverse_stds, T* out) {
  for_teams("layer_norm", rows, [=] HVD_KERNEL(int64_t row, const Team& team) {
    const T *g = grad + row * columns, *x = in + row * columns;
    T* gx = out + row * columns;
    const double mean = means[row], r = inverse_stds[row], n = static_cast<double>(columns);
    const auto u = [=](int64_t j) { return static_cast<double>(g[j]) * (weight ? static_cast<double>(weight[j]) : 1.0); };
    const double sum = team.reduce(0, columns, 0.0, u, Sum()) / n;
    const double product = team.reduce(0, columns, 0.0, [=](int64_t j) { return u(j) * (static_cast<double>(x[j]) - mean) * r; }, Sum()) / n;
    team.each(columns, [=](int64_t j) { gx[j] = static_cast<T>(r * (u(j) - sum - (static_cast<double>(x[j]) - mean) * r * product)); });
  });
}

template <class T>
void grad_weight_columns(const Backend& device, int64_t rows, int64_t columns, const T* g, const T* x, const double* mean, const double* inverse_std,
                         T* out) {
  reduce(
      device, "layer_norm", columns, rows, true, 0.0,
      [=] HVD_KERNEL(int64_t j, int64_t r) {
        const int64_t i = r * columns + j;
        return static_cast<double>(g[i]) * (static_cast<double>(x[i]) - mean[r]) * inverse_std[r];
      },
      Sum(), [=] HVD_KERNEL(int64_t j, const double& total) { out[j] = static_cast<T>(total); });
}

template <class T>
void grad_bias_columns(const Backend& device, int64_t rows, int64_t columns, const T* g, T* out) {
  reduce(
      device, "layer_norm", columns, rows, true, 0.0, [=] HVD_KERNEL(int64_t j, int64_t r) { return static_cast<double>(g[r * columns + j]); }, Sum(),
      [=] HVD_KERNEL(int64_t j, const double& total) { out[j] = static_cast<T>(total); });
}

}  // namespace

void Gpu::layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                     double* mean, double* inverse_std) const {
  dispatch_floating("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    normalise(rows, columns, static_cast<const T*>(x), static_cast<const T*>(weight), static_cast<const T*>(bias), eps, static_cast<T*>(y), mean,
              inverse_std);
  });
}

void Gpu::layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                          const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  dispatch_floating("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *g = static_cast<const T*>(grad), *in = static_cast<const T*>(x);
    if (grad_x) grad_rows(rows, columns, g, in, static_cast<const T*>(weight), mean, inverse_std, static_cast<T*>(grad_x));
    if (grad_weight) grad_weight_columns(*this, rows, columns, g, in, mean, inverse_std, static_cast<T*>(grad_weight));
    if (grad_bias) grad_bias_columns(*this, rows, columns, g, static_cast<T*>(grad_bias));
  });
}

}  // namespace hvd::backends::gpu
