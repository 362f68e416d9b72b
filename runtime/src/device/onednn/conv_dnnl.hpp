// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of float32 or bfloat16 by oneDNN. Each returns false when oneDNN has none for the shape.
#pragma once

#include "device/device.hpp"

namespace hvd::backends {

bool dnnl_conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y);
bool dnnl_conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x);
bool dnnl_conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight);

}  // namespace hvd::backends
