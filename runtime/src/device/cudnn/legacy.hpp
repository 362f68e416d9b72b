// SPDX-License-Identifier: Apache-2.0
//
// Convolutions through cuDNN's older interface: what is left where its graphs have no plan.
#pragma once

#include "device/device.hpp"

#include <cudnn.h>

namespace hvd::backends::cuda::legacy {

// Each is false where cuDNN has no algorithm: nothing was done. The caller holds the handle (CudnnLock).
bool forward(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y);
bool grad_input(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x);
bool grad_weight(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight);

}  // namespace hvd::backends::cuda::legacy
