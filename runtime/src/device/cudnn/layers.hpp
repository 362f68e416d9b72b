// SPDX-License-Identifier: Apache-2.0
//
// Average pooling and batch norm by cuDNN's graphs, where they are quicker than our own kernels: both are timed when a problem is first met. cuDNN sums
// float32 in float32, our own kernels in float64 in a fixed order: in deterministic mode those are taken.
#pragma once

#include "device/gpu/gpu.hpp"

namespace hvd::backends::cuda {

// Each is false where cuDNN is not to do it, or cannot: nothing of use was done.

/// `small` is the average of `large`; with `backward`, `large` the gradient from that of `small`.
bool average(const gpu::Gpu& device, Dtype dtype, bool backward, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
             const void* large, const void* small);
bool normalise(const gpu::Gpu& device, Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps,
               void* y, double* mean, double* variance, double* inverse_std);
bool normalise_grad(const gpu::Gpu& device, Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight,
                    const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias);

}  // namespace hvd::backends::cuda
