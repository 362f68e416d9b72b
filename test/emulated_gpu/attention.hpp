// SPDX-License-Identifier: Apache-2.0
//
// Attention of 16-bit numbers as one operation, on the host: what a GPU's library brings.
#pragma once

#include "device/device.hpp"

namespace emulated {

void attention(hvd::Dtype dtype, const hvd::backends::Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out,
               float* statistics);
void attention_grad(hvd::Dtype dtype, const hvd::backends::Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask,
                    const void* out, const float* statistics, void* grad_q, void* grad_k, void* grad_v);

}  // namespace emulated
