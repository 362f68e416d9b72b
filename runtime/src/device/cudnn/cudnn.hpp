// SPDX-License-Identifier: Apache-2.0
//
// The device `cudnn`: convolutions and attention by cuDNN, everything else as on `cublas`. Images are [n, c, h, w] as everywhere in the runtime.
#pragma once

#include "device/cuda/cublas.hpp"

#include <string>

namespace hvd::backends::cuda {

class Cudnn final : public Cublas {
 public:
  void conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  void conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  void conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  bool low_conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  bool low_conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  bool low_conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  bool has_attention() const override { return true; }
  bool attention(Dtype dtype, const Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out,
                 float* statistics) const override;
  bool attention_grad(Dtype dtype, const Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask, const void* out,
                      const float* statistics, void* grad_q, void* grad_k, void* grad_v) const override;
};

std::string cudnn_version();

}  // namespace hvd::backends::cuda
