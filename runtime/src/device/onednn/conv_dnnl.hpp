// SPDX-License-Identifier: Apache-2.0
//
// float32 convolutions by oneDNN. Each returns false when oneDNN has none for the shape.
#pragma once

#include "device/device.hpp"

namespace hvd::backends {

bool dnnl_conv2d(const Window2d& p, const float* x, const float* weight, const float* bias, float* y);
bool dnnl_conv2d_grad_input(const Window2d& p, const float* grad, const float* weight, float* grad_x);
bool dnnl_conv2d_grad_weight(const Window2d& p, const float* grad, const float* x, float* grad_weight);

}  // namespace hvd::backends
