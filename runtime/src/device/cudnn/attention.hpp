// SPDX-License-Identifier: Apache-2.0
//
// Attention by cuDNN's fused engines; plans are kept as those of convolutions are.
#pragma once

#include "device/device.hpp"

namespace hvd::backends::cuda {

struct AttentionBuffers {
  const void *q, *k, *v, *mask;
  void* out;
  float* statistics;
};
struct AttentionGradBuffers {
  const void *grad, *q, *k, *v, *mask, *out;
  const float* statistics;
  void *grad_q, *grad_k, *grad_v;
};

/// False where cuDNN has no plan for it or for its gradients: nothing of use was done.
bool attend(Dtype dtype, const Attention& shape, const AttentionBuffers& buffers);
void attend_grad(Dtype dtype, const Attention& shape, const AttentionGradBuffers& buffers);

}  // namespace hvd::backends::cuda
