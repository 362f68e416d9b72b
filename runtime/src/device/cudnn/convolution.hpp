// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by cuDNN's graphs: plans are chosen when a problem is first met, and kept.
#pragma once

#include "device/cudnn/rules/convolution.hpp"
#include "device/gpu/gpu.hpp"

namespace hvd::backends::cuda {

/// Image, weight and output, or their gradients: the product says which one is written.
struct ConvolutionBuffers {
  void *x, *weight, *y;
  const void* bias = nullptr;
};

/// False where cuDNN has no plan: nothing of use was done.
bool convolve(const gpu::Gpu& device, rules::Product product, Dtype dtype, const Window2d& window, const ConvolutionBuffers& buffers);

}  // namespace hvd::backends::cuda
