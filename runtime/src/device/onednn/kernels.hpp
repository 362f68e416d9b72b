// SPDX-License-Identifier: Apache-2.0
//
// Loops over float32 numbers, compiled for several generations of processors; the processor at hand decides which are run. All do the
// same operations on each element; only sums may be ordered differently.
#pragma once

#include <cstdint>

namespace hvd::backends {

struct Kernels {
  // y[i] from x[i], or from a[i] and b[i]
  void (*relu)(int64_t n, const float* x, float* y);
  void (*scale)(int64_t n, const float* x, float factor, float* y);
  void (*gelu)(int64_t n, const float* x, float* y);
  void (*add)(int64_t n, const float* a, const float* b, float* y);
  void (*sub)(int64_t n, const float* a, const float* b, float* y);
  void (*mul)(int64_t n, const float* a, const float* b, float* y);
  void (*relu_grad)(int64_t n, const float* g, const float* y, float* gx);
  void (*gelu_grad)(int64_t n, const float* g, const float* x, float* gx);
  void (*axpy)(int64_t n, float a, const float* x, float* y);

  // Dropout: mask of blocks [first, first + blocks) of four elements, see survives() in device/draws.hpp.
  void (*dropout_mask)(int64_t blocks, uint64_t first, uint64_t seed, uint64_t counter, uint32_t threshold, bool* mask);
  void (*masked_scale)(int64_t n, const float* x, const bool* mask, float factor, float* y);

  // One row.
  void (*softmax)(int64_t columns, const float* x, float* y);
  void (*softmax_grad)(int64_t columns, const float* g, const float* y, float* gx);
  void (*layer_norm)(int64_t columns, const float* x, const float* weight, const float* bias, double eps, float* y, double* mean, double* inverse_std);
  void (*layer_norm_grad)(int64_t columns, const float* g, const float* x, const float* weight, double mean, double inverse_std, float* gx);
  /// Adds to the gradients of weight and bias, one for each column.
  void (*layer_norm_sums)(int64_t columns, const float* g, const float* x, double mean, double inverse_std, double* weights, double* biases);
  /// total[i] += x[i]
  void (*add_to)(int64_t n, const float* x, double* total);

  // One plane of a channel.
  double (*plane_sum)(int64_t n, const float* x);
  double (*plane_squares)(int64_t n, const float* x, double mean);
  void (*plane_products)(int64_t n, const float* g, const float* x, double mean, double* sum, double* product);
  void (*plane_affine)(int64_t n, const float* x, float a, float b, float* y);
  void (*plane_combine)(int64_t n, const float* g, const float* x, float a, float b, float s, float* y);

  /// A row of max pooling by windows of 2 x 2 without overlap: the upper and lower row of the image, the upper one at `position`.
  void (*pool_pairs)(int64_t outputs, const float* upper, const float* lower, int32_t position, int32_t row_length, float* y, int32_t* winner);

  void (*sgd)(int64_t n, float lr, float decay, const float* grad, float* param);
  void (*sgd_momentum)(int64_t n, float lr, float decay, float old, float fresh, float ahead, float along, const float* grad, float* buffer, float* param);
};

const Kernels& kernels();

}  // namespace hvd::backends
