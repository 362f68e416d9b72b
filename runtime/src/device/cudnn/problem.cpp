// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/problem.hpp"

#include "device/cpu/dispatch.hpp"
#include "device/cudnn/handle.hpp"

#include <tuple>

namespace hvd::backends::cuda {

namespace {

auto key(const Problem& p) {
  const Window2d& w = p.window;
  return std::tuple(p.dtype, p.deterministic, p.tf32, w.n, w.c, w.h, w.w, w.k, w.kh, w.kw, w.stride_h, w.stride_w, w.pad_h, w.pad_w, w.oh, w.ow,
                    w.dilation_h, w.dilation_w, w.groups);
}

cudnnDataType_t data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return CUDNN_DATA_FLOAT;
    case Dtype::kFloat64: return CUDNN_DATA_DOUBLE;
    case Dtype::kBFloat16: return CUDNN_DATA_BFLOAT16;
    case Dtype::kFloat16: return CUDNN_DATA_HALF;
    default: unsupported("conv2d", dtype);
  }
}

/// Tensor cores for 16 bits; for float32 only where TF32 was asked for, which cuDNN's default mode would take unasked.
cudnnMathType_t math_type(const Problem& p) {
  if (is_low_precision(p.dtype)) return CUDNN_TENSOR_OP_MATH;
  return p.dtype == Dtype::kFloat32 && p.tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

}  // namespace

bool operator<(const Problem& a, const Problem& b) { return key(a) < key(b); }

Descriptors::Descriptors(const Problem& problem) {
  const Window2d& p = problem.window;
  const cudnnDataType_t type = data_type(problem.dtype);
  const auto of = [](int64_t extent) { return static_cast<int>(extent); };
  for (cudnnTensorDescriptor_t* d : {&x, &y, &bias}) HVD_CUDA(cudnnCreateTensorDescriptor(d));
  HVD_CUDA(cudnnCreateFilterDescriptor(&weight));
  HVD_CUDA(cudnnCreateConvolutionDescriptor(&convolution));
  HVD_CUDA(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, type, of(p.n), of(p.c), of(p.h), of(p.w)));
  HVD_CUDA(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, type, of(p.n), of(p.k), of(p.oh), of(p.ow)));
  HVD_CUDA(cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NCHW, type, 1, of(p.k), 1, 1));
  HVD_CUDA(cudnnSetFilter4dDescriptor(weight, type, CUDNN_TENSOR_NCHW, of(p.k), of(p.c / p.groups), of(p.kh), of(p.kw)));
  // Sums in float64 for float64, else in float32.
  const cudnnDataType_t sums = problem.dtype == Dtype::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  HVD_CUDA(cudnnSetConvolution2dDescriptor(convolution, of(p.pad_h), of(p.pad_w), of(p.stride_h), of(p.stride_w), of(p.dilation_h),
                                           of(p.dilation_w), CUDNN_CROSS_CORRELATION, sums));
  HVD_CUDA(cudnnSetConvolutionGroupCount(convolution, of(p.groups)));
  HVD_CUDA(cudnnSetConvolutionMathType(convolution, math_type(problem)));
}

Descriptors::~Descriptors() {
  for (cudnnTensorDescriptor_t d : {x, y, bias})
    if (d) cudnnDestroyTensorDescriptor(d);
  if (weight) cudnnDestroyFilterDescriptor(weight);
  if (convolution) cudnnDestroyConvolutionDescriptor(convolution);
}

}  // namespace hvd::backends::cuda
