// SPDX-License-Identifier: Apache-2.0
//
// Each operation goes to cuDNN's graphs, then to its older interface, then to our own kernels: the first that can takes it.
#include "device/cudnn/cudnn.hpp"

#include "device/cudnn/attention.hpp"
#include "device/cudnn/convolution.hpp"
#include "device/cudnn/handle.hpp"
#include "device/cudnn/layers.hpp"
#include "device/cudnn/legacy.hpp"

namespace hvd::backends::cuda {

namespace {

using rules::Product;

void* writable(const void* data) { return const_cast<void*>(data); }

bool forward(const gpu::Gpu& device, Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) {
  if (!rules::fits_cudnn(window)) return false;
  return convolve(device, Product::kForward, dtype, window, {writable(x), writable(weight), y, bias}) ||
         legacy::forward(CudnnLock().handle(), dtype, window, x, weight, bias, y);
}
bool grad_input(const gpu::Gpu& device, Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) {
  if (!rules::fits_cudnn(window)) return false;
  return convolve(device, Product::kGradInput, dtype, window, {grad_x, writable(weight), writable(grad)}) ||
         legacy::grad_input(CudnnLock().handle(), dtype, window, grad, weight, grad_x);
}
bool grad_weight(const gpu::Gpu& device, Dtype dtype, const Window2d& window, const void* grad, const void* x, void* result) {
  if (!rules::fits_cudnn(window)) return false;
  return convolve(device, Product::kGradWeight, dtype, window, {writable(x), result, writable(grad)}) ||
         legacy::grad_weight(CudnnLock().handle(), dtype, window, grad, x, result);
}

}  // namespace

std::string cudnn_version() {
  const size_t version = cudnnGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." + std::to_string(version % 100);
}

void Cudnn::conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const {
  if (!forward(*this, dtype, window, x, weight, bias, y)) Cublas::conv2d(dtype, window, x, weight, bias, y);
}
void Cudnn::conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const {
  if (!grad_input(*this, dtype, window, grad, weight, grad_x)) Cublas::conv2d_grad_input(dtype, window, grad, weight, grad_x);
}
void Cudnn::conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* result) const {
  if (!grad_weight(*this, dtype, window, grad, x, result)) Cublas::conv2d_grad_weight(dtype, window, grad, x, result);
}

bool Cudnn::low_conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const {
  return forward(*this, dtype, window, x, weight, bias, y) || Cublas::low_conv2d(dtype, window, x, weight, bias, y);
}
bool Cudnn::low_conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const {
  return grad_input(*this, dtype, window, grad, weight, grad_x) || Cublas::low_conv2d_grad_input(dtype, window, grad, weight, grad_x);
}
bool Cudnn::low_conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* result) const {
  return grad_weight(*this, dtype, window, grad, x, result) || Cublas::low_conv2d_grad_weight(dtype, window, grad, x, result);
}

void Cudnn::mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* x,
                        void* y) const {
  // Of 16 bits our own kernels sum in float64.
  if (is_low_precision(dtype) || !average(*this, dtype, false, planes, h, w, down, across, divisor, x, y)) Cublas::mean_pool2d(dtype, planes, h, w, down, across, divisor, x, y);
}
void Cudnn::mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* grad,
                             void* grad_x) const {
  if (is_low_precision(dtype) || !average(*this, dtype, true, planes, h, w, down, across, divisor, grad_x, grad))
    Cublas::mean_pool2d_grad(dtype, planes, h, w, down, across, divisor, grad, grad_x);
}

bool Cudnn::batch_norm(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps, void* y,
                       double* mean, double* variance, double* inverse_std) const {
  return normalise(*this, dtype, params, n, c, inner, x, weight, bias, eps, y, mean, variance, inverse_std) ||
         Cublas::batch_norm(dtype, params, n, c, inner, x, weight, bias, eps, y, mean, variance, inverse_std);
}
bool Cudnn::batch_norm_grad(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight, const double* mean,
                            const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  return normalise_grad(*this, dtype, params, n, c, inner, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias) ||
         Cublas::batch_norm_grad(dtype, params, n, c, inner, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias);
}

bool Cudnn::attention(Dtype dtype, const Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out,
                      float* statistics) const {
  return attend(dtype, shape, {q, k, v, mask, out, statistics});
}
bool Cudnn::attention_grad(Dtype dtype, const Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask, const void* out,
                           const float* statistics, void* grad_q, void* grad_k, void* grad_v) const {
  attend_grad(dtype, shape, {grad, q, k, v, mask, out, statistics, grad_q, grad_k, grad_v});
  return true;
}

}  // namespace hvd::backends::cuda
