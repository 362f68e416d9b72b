// SPDX-License-Identifier: Apache-2.0
//
// Rows, images and channels.
#include "device/low_precision.hpp"

#include "device/low_precision_buffers.hpp"

namespace hvd::backends {

namespace {

constexpr Dtype kWide = Dtype::kFloat32;

int64_t inputs(const Window2d& p) { return p.n * p.c * p.h * p.w; }
int64_t outputs(const Window2d& p) { return p.n * p.k * p.oh * p.ow; }
int64_t weights(const Window2d& p) { return p.k * (p.c / p.groups) * p.kh * p.kw; }

}  // namespace

// What stays on the device. Losses of 16-bit scores take the way of sums that come to the host: a count of rows has no room in 8 bits.
bool LowPrecision::check_index(const char* name, const int64_t* index, int64_t n, int64_t length) const {
  return base_.check_index(name, index, n, length);
}
bool LowPrecision::nll_on_device(const char* name, Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
                                 int64_t ignore_index, double smoothing, bool mean, void* per_row, void* value, void* counted) const {
  return !is_low_precision(dtype) &&
         base_.nll_on_device(name, dtype, rows, columns, x, target, weight, ignore_index, smoothing, mean, per_row, value, counted);
}
bool LowPrecision::channel_sums_on_device(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, void* sums) const {
  return !widens(dtype) && base_.channel_sums_on_device(dtype, n, c, inner, x, sums);
}
bool LowPrecision::batch_norm(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps,
                              void* y, double* mean, double* variance, double* inverse_std) const {
  return !widens(dtype) && base_.batch_norm(dtype, params, n, c, inner, x, weight, bias, eps, y, mean, variance, inverse_std);
}
bool LowPrecision::batch_norm_grad(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight,
                                   const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  return !widens(dtype) &&
         base_.batch_norm_grad(dtype, params, n, c, inner, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias);
}

void LowPrecision::softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const {
  if (!widens(dtype)) return base_.softmax(dtype, rows, columns, in, out, log);
  base_.softmax(kWide, rows, columns, Wide(base_, dtype, rows * columns, in), Rounded(base_, dtype, rows * columns, out), log);
}
void LowPrecision::softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const {
  if (!widens(dtype)) return base_.softmax_grad(dtype, rows, columns, grad, out, grad_in, log);
  const int64_t n = rows * columns;
  base_.softmax_grad(kWide, rows, columns, Wide(base_, dtype, n, grad), Wide(base_, dtype, n, out), Rounded(base_, dtype, n, grad_in), log);
}
int64_t LowPrecision::nll(Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight, int64_t ignore_index,
                          double smoothing, void* per_row, double totals[2]) const {
  if (!widens(dtype)) return base_.nll(dtype, rows, columns, x, target, weight, ignore_index, smoothing, per_row, totals);
  return base_.nll(kWide, rows, columns, Wide(base_, dtype, rows * columns, x), target, Wide(base_, dtype, columns, weight), ignore_index, smoothing,
                   Rounded(base_, dtype, rows, per_row), totals);
}
void LowPrecision::nll_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale, const int64_t* target,
                            const void* weight, int64_t ignore_index, void* grad_in) const {
  if (!widens(dtype))
    return base_.nll_grad(dtype, rows, columns, grad, grad_stride, scale, target, weight, ignore_index, grad_in);
  base_.nll_grad(kWide, rows, columns, Wide(base_, dtype, grad_stride ? rows : 1, grad), grad_stride, scale, target, Wide(base_, dtype, columns, weight),
                 ignore_index, Rounded(base_, dtype, rows * columns, grad_in));
}
void LowPrecision::cross_entropy_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                                      const void* log_probabilities, const int64_t* target, const void* weight, int64_t ignore_index,
                                      double smoothing, void* grad_in) const {
  if (!widens(dtype))
    return base_.cross_entropy_grad(dtype, rows, columns, grad, grad_stride, scale, log_probabilities, target, weight, ignore_index, smoothing,
                                    grad_in);
  base_.cross_entropy_grad(kWide, rows, columns, Wide(base_, dtype, grad_stride ? rows : 1, grad), grad_stride, scale,
                           Wide(base_, dtype, rows * columns, log_probabilities), target, Wide(base_, dtype, columns, weight), ignore_index, smoothing,
                           Rounded(base_, dtype, rows * columns, grad_in));
}
void LowPrecision::layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                              double* mean, double* inverse_std) const {
  if (!widens(dtype)) return base_.layer_norm(dtype, rows, columns, x, weight, bias, eps, y, mean, inverse_std);
  const int64_t n = rows * columns;
  base_.layer_norm(kWide, rows, columns, Wide(base_, dtype, n, x), Wide(base_, dtype, columns, weight), Wide(base_, dtype, columns, bias), eps, Rounded(base_, dtype, n, y), mean,
                   inverse_std);
}
void LowPrecision::layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                                   const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  if (!widens(dtype))
    return base_.layer_norm_grad(dtype, rows, columns, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias);
  const int64_t n = rows * columns;
  base_.layer_norm_grad(kWide, rows, columns, Wide(base_, dtype, n, grad), Wide(base_, dtype, n, x), Wide(base_, dtype, columns, weight), mean, inverse_std,
                        Rounded(base_, dtype, n, grad_x), Rounded(base_, dtype, columns, grad_weight), Rounded(base_, dtype, columns, grad_bias));
}

void LowPrecision::conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  if (!is_low_precision(dtype)) return base_.conv2d(dtype, p, x, weight, bias, y);
  if (base_.low_conv2d(dtype, p, x, weight, bias, y)) return;
  base_.conv2d(kWide, p, Wide(base_, dtype, inputs(p), x), Wide(base_, dtype, weights(p), weight), Wide(base_, dtype, p.k, bias), Rounded(base_, dtype, outputs(p), y));
}
void LowPrecision::conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  if (!is_low_precision(dtype)) return base_.conv2d_grad_input(dtype, p, grad, weight, grad_x);
  if (base_.low_conv2d_grad_input(dtype, p, grad, weight, grad_x)) return;
  base_.conv2d_grad_input(kWide, p, Wide(base_, dtype, outputs(p), grad), Wide(base_, dtype, weights(p), weight), Rounded(base_, dtype, inputs(p), grad_x));
}
void LowPrecision::conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) const {
  if (!is_low_precision(dtype)) return base_.conv2d_grad_weight(dtype, p, grad, x, grad_weight);
  if (base_.low_conv2d_grad_weight(dtype, p, grad, x, grad_weight)) return;
  base_.conv2d_grad_weight(kWide, p, Wide(base_, dtype, outputs(p), grad), Wide(base_, dtype, inputs(p), x), Rounded(base_, dtype, weights(p), grad_weight));
}
void LowPrecision::max_pool2d(Dtype dtype, const Window2d& p, const void* x, void* y, int32_t* indices) const {
  if (!widens(dtype)) return base_.max_pool2d(dtype, p, x, y, indices);
  base_.max_pool2d(kWide, p, Wide(base_, dtype, inputs(p), x), Rounded(base_, dtype, outputs(p), y), indices);
}
void LowPrecision::max_pool2d_grad(Dtype dtype, const Window2d& p, const void* grad, const int32_t* indices, void* grad_x) const {
  if (!widens(dtype)) return base_.max_pool2d_grad(dtype, p, grad, indices, grad_x);
  base_.max_pool2d_grad(kWide, p, Wide(base_, dtype, outputs(p), grad), indices, Rounded(base_, dtype, inputs(p), grad_x));
}
void LowPrecision::mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                               const void* x, void* y) const {
  if (!widens(dtype)) return base_.mean_pool2d(dtype, planes, h, w, down, across, divisor, x, y);
  base_.mean_pool2d(kWide, planes, h, w, down, across, divisor, Wide(base_, dtype, planes * h * w, x),
                    Rounded(base_, dtype, planes * down.count() * across.count(), y));
}
void LowPrecision::mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                                    const void* grad, void* grad_x) const {
  if (!widens(dtype)) return base_.mean_pool2d_grad(dtype, planes, h, w, down, across, divisor, grad, grad_x);
  base_.mean_pool2d_grad(kWide, planes, h, w, down, across, divisor, Wide(base_, dtype, planes * down.count() * across.count(), grad),
                         Rounded(base_, dtype, planes * h * w, grad_x));
}

void LowPrecision::channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const {
  if (!widens(dtype)) return base_.channel_sums(dtype, n, c, inner, x, sums);
  base_.channel_sums(kWide, n, c, inner, Wide(base_, dtype, n * c * inner, x), sums);
}
void LowPrecision::channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const {
  if (!widens(dtype)) return base_.channel_squares(dtype, n, c, inner, x, mean, sums);
  base_.channel_squares(kWide, n, c, inner, Wide(base_, dtype, n * c * inner, x), mean, sums);
}
void LowPrecision::channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean,
                                    double* sums, double* products) const {
  if (!widens(dtype)) return base_.channel_products(dtype, n, c, inner, grad, x, mean, sums, products);
  const int64_t all = n * c * inner;
  base_.channel_products(kWide, n, c, inner, Wide(base_, dtype, all, grad), Wide(base_, dtype, all, x), mean, sums, products);
}
void LowPrecision::channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift,
                                  void* y) const {
  if (!widens(dtype)) return base_.channel_affine(dtype, n, c, inner, x, scale, shift, y);
  const int64_t all = n * c * inner;
  base_.channel_affine(kWide, n, c, inner, Wide(base_, dtype, all, x), scale, shift, Rounded(base_, dtype, all, y));
}
void LowPrecision::channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a,
                                   const double* b, const double* s, void* y) const {
  if (!widens(dtype)) return base_.channel_combine(dtype, n, c, inner, grad, x, a, b, s, y);
  const int64_t all = n * c * inner;
  base_.channel_combine(kWide, n, c, inner, Wide(base_, dtype, all, grad), Wide(base_, dtype, all, x), a, b, s, Rounded(base_, dtype, all, y));
}

}  // namespace hvd::backends
