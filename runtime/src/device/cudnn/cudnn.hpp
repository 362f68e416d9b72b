// SPDX-License-Identifier: Apache-2.0
//
// The device `cudnn`: convolutions, attention, average pooling and batch norm by cuDNN, everything else as on `cublas`. Images are [n, c, h, w] as everywhere in the runtime.
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
  void mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* x,
                   void* y) const override;
  void mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* grad,
                        void* grad_x) const override;
  bool batch_norm(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps, void* y,
                  double* mean, double* variance, double* inverse_std) const override;
  bool batch_norm_grad(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight, const double* mean,
                       const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const override;
  bool has_attention() const override { return true; }
  bool attention(Dtype dtype, const Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out,
                 float* statistics) const override;
  bool attention_grad(Dtype dtype, const Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask, const void* out,
                      const float* statistics, void* grad_q, void* grad_k, void* grad_v) const override;
};

std::string cudnn_version();

}  // namespace hvd::backends::cuda
