// SPDX-License-Identifier: Apache-2.0
//
// A graph of operations as cuDNN takes it: tensors by number, operations between them. Tensors that are `virtual` exist in registers only.
#pragma once

#include "device/cudnn/graph/descriptor.hpp"

#include <hvd/core/types.hpp>

#include <deque>
#include <optional>

namespace hvd::backends::cuda::graph {

/// For whom plans are made: a handle; or, without a GPU, the description of one (tests).
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* device = nullptr;
};

struct TensorSpec {
  int64_t uid;
  cudnnDataType_t type;
  std::vector<int64_t> size, stride;
  int64_t alignment = 16;
  bool is_virtual = false;
  bool by_value = false;  // a number of the host
};

struct ConvolutionSpec {
  cudnnDataType_t compute;
  std::vector<int64_t> stride, pad, dilation;
};

struct PoolingSpec {
  cudnnDataType_t compute;
  cudnnResampleMode_t mode;
  cudnnPaddingMode_t padding;
  std::vector<int64_t> window, stride, pad;
};

/// Operands of a batch norm's two passes. Null: not there.
struct NormForward {
  const Descriptor *x, *scale, *bias, *epsilon, *mean, *inverse_std, *y;
};
struct NormBackward {
  const Descriptor *x, *grad, *scale, *mean, *inverse_std, *grad_x, *grad_scale, *grad_bias;
};

/// Sums are formed in float64 for float64, else in float32.
cudnnDataType_t sum_type(Dtype dtype);
cudnnDataType_t data_type(Dtype dtype, const char* operation);

class Graph {
 public:
  using Tensor = const Descriptor&;

  /// `what` names the operation and its shapes in messages.
  explicit Graph(std::string what) : what_(std::move(what)) {}
  const std::string& what() const { return what_; }

  Tensor tensor(const TensorSpec& spec);
  void convolve(const ConvolutionSpec& spec, Tensor x, Tensor weight, Tensor y);
  void convolve_grad_input(const ConvolutionSpec& spec, Tensor grad, Tensor weight, Tensor grad_x);
  void convolve_grad_weight(const ConvolutionSpec& spec, Tensor grad, Tensor x, Tensor grad_weight);
  void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, Tensor x, Tensor y);
  void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, Tensor x, Tensor b, Tensor y);
  void multiply(cudnnDataType_t compute, Tensor a, Tensor b, Tensor c);
  void reduce(cudnnReduceTensorOp_t op, cudnnDataType_t compute, Tensor x, Tensor y);
  /// y is x in other extents or another order.
  void reshape(Tensor x, Tensor y);
  void pool(const PoolingSpec& spec, Tensor x, Tensor y);
  void pool_grad(const PoolingSpec& spec, Tensor grad, Tensor grad_x);
  void batch_norm(const NormForward& operands);
  void batch_norm_grad(const NormBackward& operands);

  /// After the last operation.
  void finish(const Target& target);
  const Descriptor& descriptor() const { return *graph_; }

 private:
  Descriptor& keep(Descriptor&& part);
  /// Ends an operation's descriptor and notes it.
  void operation(Descriptor& descriptor);

  std::string what_;
  std::deque<Descriptor> parts_;  // they stay where they are
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::optional<Descriptor> graph_;
};

}  // namespace hvd::backends::cuda::graph
