// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the losses over class scores: rows of [rows, columns]; sums over columns and rows run in float64.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <algorithm>
#include <cmath>

namespace hvd::backends {

namespace {

template <class T>
void softmax_row(int64_t columns, const T* x, T* y, bool log) {
  T largest = x[0];
  for (int64_t j = 1; j < columns; ++j) largest = std::max(largest, x[j]);
  double total = 0;
  for (int64_t j = 0; j < columns; ++j) total += std::exp(static_cast<double>(x[j] - largest));
  if (log) {
    const double shift = std::log(total);
    for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(static_cast<double>(x[j] - largest) - shift);
  } else {
    for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(std::exp(static_cast<double>(x[j] - largest)) / total);
  }
}

template <class T>
void softmax_grad_row(int64_t columns, const T* g, const T* y, T* gx, bool log) {
  double total = 0;
  for (int64_t j = 0; j < columns; ++j) total += static_cast<double>(g[j]) * (log ? 1.0 : static_cast<double>(y[j]));
  for (int64_t j = 0; j < columns; ++j) {
    const double dy = static_cast<double>(y[j]);
    gx[j] = static_cast<T>(log ? g[j] - std::exp(dy) * total : dy * (g[j] - total));
  }
}

/// Sum of w[j] x[j]; without w, of x[j].
template <class T>
double weighted_sum(int64_t columns, const T* w, const T* x) {
  double total = 0;
  for (int64_t j = 0; j < columns; ++j) total += (w ? static_cast<double>(w[j]) : 1.0) * static_cast<double>(x[j]);
  return total;
}

/// Gradient of cross entropy with label smoothing s: the target distribution is d = (1 - s) w[t] at t plus s / C w everywhere, and
/// the gradient p sum(d) - d.
template <class T>
void smoothed_grad_row(int64_t columns, double outer, double s, int64_t target, const T* w, const T* log_p, T* gx) {
  const auto weight = [&](int64_t j) { return w ? static_cast<double>(w[j]) : 1.0; };
  double total = (1 - s) * weight(target);
  for (int64_t j = 0; j < columns; ++j) total += s / static_cast<double>(columns) * weight(j);
  for (int64_t j = 0; j < columns; ++j) {
    const double d = s / static_cast<double>(columns) * weight(j) + (j == target ? (1 - s) * weight(j) : 0.0);
    gx[j] = static_cast<T>(outer * (std::exp(static_cast<double>(log_p[j])) * total - d));
  }
}

}  // namespace

void Cpu::softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const {
  dispatch_real("softmax", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < rows; ++r)
      softmax_row(columns, static_cast<const T*>(in) + r * columns, static_cast<T*>(out) + r * columns, log);
  });
}

void Cpu::softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const {
  dispatch_real("softmax", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < rows; ++r)
      softmax_grad_row(columns, static_cast<const T*>(grad) + r * columns, static_cast<const T*>(out) + r * columns,
                       static_cast<T*>(grad_in) + r * columns, log);
  });
}

int64_t Cpu::nll(Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
                 int64_t ignore_index, double smoothing, void* per_row, double totals[2]) const {
  int64_t bad = -1;
  dispatch_real("nll_loss", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* log_p = static_cast<const T*>(x);
    const T* w = static_cast<const T*>(weight);
    T* out = static_cast<T*>(per_row);
    totals[0] = totals[1] = 0;
    for (int64_t r = 0; r < rows; ++r) {
      if (out) out[r] = 0;
      if (target[r] == ignore_index) continue;
      if (target[r] < 0 || target[r] >= columns) {
        bad = r;
        return;
      }
      const double factor = w ? static_cast<double>(w[target[r]]) : 1.0;
      double term = -factor * static_cast<double>(log_p[r * columns + target[r]]);
      if (smoothing != 0) term = (1 - smoothing) * term - smoothing / static_cast<double>(columns) * weighted_sum(columns, w, log_p + r * columns);
      totals[0] += term;
      totals[1] += factor;
      if (out) out[r] = static_cast<T>(term);
    }
  });
  return bad;
}

void Cpu::nll_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale, const int64_t* target,
                   const void* weight, int64_t ignore_index, void* grad_in) const {
  dispatch_real("nll_loss", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* g = static_cast<const T*>(grad);
    const T* w = static_cast<const T*>(weight);
    T* gx = static_cast<T*>(grad_in);
    std::fill_n(gx, rows * columns, T(0));
    for (int64_t r = 0; r < rows; ++r) {
      if (target[r] == ignore_index) continue;
      const double factor = w ? static_cast<double>(w[target[r]]) : 1.0;
      gx[r * columns + target[r]] = static_cast<T>(-factor * static_cast<double>(g[r * grad_stride]) * scale);
    }
  });
}

void Cpu::cross_entropy_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                             const void* log_probabilities, const int64_t* target, const void* weight, int64_t ignore_index,
                             double smoothing, void* grad_in) const {
  dispatch_real("cross_entropy", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* g = static_cast<const T*>(grad);
    const T* w = static_cast<const T*>(weight);
    for (int64_t r = 0; r < rows; ++r) {
      T* gx = static_cast<T*>(grad_in) + r * columns;
      const T* log_p = static_cast<const T*>(log_probabilities) + r * columns;
      if (target[r] == ignore_index) {
        std::fill_n(gx, columns, T(0));
        continue;
      }
      const double outer = static_cast<double>(g[r * grad_stride]) * scale;
      if (smoothing != 0) {
        smoothed_grad_row(columns, outer, smoothing, target[r], w, log_p, gx);
        continue;
      }
      const double factor = (w ? static_cast<double>(w[target[r]]) : 1.0) * outer;
      for (int64_t j = 0; j < columns; ++j)
        gx[j] = static_cast<T>(factor * (std::exp(static_cast<double>(log_p[j])) - (j == target[r] ? 1.0 : 0.0)));
    }
  });
}

}  // namespace hvd::backends
