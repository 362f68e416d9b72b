// SPDX-License-Identifier: Apache-2.0
//
// Layer norm (Ba, Kiros, Hinton 2016) along the rows of [rows, columns]; sums in float64, rows of the parameters' gradients in
// the order of the rows.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <cmath>
#include <vector>

namespace hvd::backends {

namespace {

template <class T>
void normalise_row(int64_t columns, const T* x, const T* weight, const T* bias, double eps, T* y, double& mean, double& inverse_std) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < columns; ++j) sum += static_cast<double>(x[j]);
  const double m = sum / static_cast<double>(columns);
#pragma omp simd reduction(+ : squares)
  for (int64_t j = 0; j < columns; ++j) squares += (static_cast<double>(x[j]) - m) * (static_cast<double>(x[j]) - m);
  const double r = 1 / std::sqrt(squares / static_cast<double>(columns) + eps);
  for (int64_t j = 0; j < columns; ++j) {
    const double scaled = (static_cast<double>(x[j]) - m) * r * (weight ? static_cast<double>(weight[j]) : 1.0);
    y[j] = static_cast<T>(scaled + (bias ? static_cast<double>(bias[j]) : 0.0));
  }
  mean = m;
  inverse_std = r;
}

/// With u = g weight and n the normalised x: r (u - mean(u) - n mean(u n)).
template <class T>
void grad_row(int64_t columns, const T* g, const T* x, const T* weight, double mean, double r, T* gx) {
  double sum = 0, product = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const double u = static_cast<double>(g[j]) * (weight ? static_cast<double>(weight[j]) : 1.0);
    sum += u;
    product += u * (static_cast<double>(x[j]) - mean) * r;
  }
  sum /= static_cast<double>(columns);
  product /= static_cast<double>(columns);
  for (int64_t j = 0; j < columns; ++j) {
    const double u = static_cast<double>(g[j]) * (weight ? static_cast<double>(weight[j]) : 1.0);
    gx[j] = static_cast<T>(r * (u - sum - (static_cast<double>(x[j]) - mean) * r * product));
  }
}

}  // namespace

void Cpu::layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                     double* mean, double* inverse_std) const {
  dispatch_real("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < rows; ++i)
      normalise_row(columns, static_cast<const T*>(x) + i * columns, static_cast<const T*>(weight), static_cast<const T*>(bias), eps,
                    static_cast<T*>(y) + i * columns, mean[i], inverse_std[i]);
  });
}

void Cpu::layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight,
                          const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  dispatch_real("layer_norm", dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> weights(columns), biases(columns);
    for (int64_t i = 0; i < rows; ++i) {
      const T* g = static_cast<const T*>(grad) + i * columns;
      const T* in = static_cast<const T*>(x) + i * columns;
      if (grad_x) grad_row(columns, g, in, static_cast<const T*>(weight), mean[i], inverse_std[i], static_cast<T*>(grad_x) + i * columns);
      for (int64_t j = 0; j < columns; ++j) {
        weights[j] += static_cast<double>(g[j]) * (static_cast<double>(in[j]) - mean[i]) * inverse_std[i];
        biases[j] += static_cast<double>(g[j]);
      }
    }
    for (int64_t j = 0; j < columns; ++j) {
      if (grad_weight) static_cast<T*>(grad_weight)[j] = static_cast<T>(weights[j]);
      if (grad_bias) static_cast<T*>(grad_bias)[j] = static_cast<T>(biases[j]);
    }
  });
}

}  // namespace hvd::backends
