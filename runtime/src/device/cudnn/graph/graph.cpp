// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/graph/graph.hpp"

#include "device/cpu/dispatch.hpp"

namespace hvd::backends::cuda::graph {

cudnnDataType_t sum_type(Dtype dtype) { return dtype == Dtype::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

cudnnDataType_t data_type(Dtype dtype, const char* operation) {
  switch (dtype) {
    case Dtype::kFloat32: return CUDNN_DATA_FLOAT;
    case Dtype::kFloat64: return CUDNN_DATA_DOUBLE;
    case Dtype::kBFloat16: return CUDNN_DATA_BFLOAT16;
    case Dtype::kFloat16: return CUDNN_DATA_HALF;
    default: unsupported(operation, dtype);
  }
}

Descriptor& Graph::keep(Descriptor&& part) { return parts_.emplace_back(std::move(part)); }

void Graph::operation(Descriptor& descriptor) {
  descriptor.finish();
  operations_.push_back(descriptor.raw());
}

const Descriptor& Graph::tensor(const TensorSpec& spec) {
  Descriptor& t = keep(HVD_CUDNN_DESCRIPTOR(TENSOR));
  t.set(HVD_CUDNN_ATTR(TENSOR_DATA_TYPE), spec.type);
  t.set(HVD_CUDNN_ATTR(TENSOR_DIMENSIONS), spec.size);
  t.set(HVD_CUDNN_ATTR(TENSOR_STRIDES), spec.stride);
  t.set(HVD_CUDNN_ATTR(TENSOR_UNIQUE_ID), spec.uid);
  t.set(HVD_CUDNN_ATTR(TENSOR_BYTE_ALIGNMENT), spec.alignment);
  if (spec.is_virtual) t.set(HVD_CUDNN_ATTR(TENSOR_IS_VIRTUAL), true);
  if (spec.by_value) t.set(HVD_CUDNN_ATTR(TENSOR_IS_BY_VALUE), true);
  t.finish();
  return t;
}

namespace {

void describe(Descriptor& d, const ConvolutionSpec& spec) {
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_COMP_TYPE), spec.compute);
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_CONV_MODE), CUDNN_CROSS_CORRELATION);
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_SPATIAL_DIMS), static_cast<int64_t>(spec.stride.size()));
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_FILTER_STRIDES), spec.stride);
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_PRE_PADDINGS), spec.pad);
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_POST_PADDINGS), spec.pad);
  d.set(HVD_CUDNN_ATTR(CONVOLUTION_DILATIONS), spec.dilation);
  d.finish();
}

/// The two factors of an operation, of the type in which it computes.
void factors(Descriptor& d, cudnnDataType_t compute, Attribute alpha, Attribute beta) {
  if (compute == CUDNN_DATA_DOUBLE) {
    d.set(alpha, 1.0);
    d.set(beta, 0.0);
  } else {
    d.set(alpha, 1.0f);
    d.set(beta, 0.0f);
  }
}

void describe(Descriptor& d, const PoolingSpec& spec) {
  d.set(HVD_CUDNN_ATTR(RESAMPLE_MODE), spec.mode);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_COMP_TYPE), spec.compute);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_PADDING_MODE), spec.padding);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_SPATIAL_DIMS), static_cast<int64_t>(spec.window.size()));
  d.set(HVD_CUDNN_ATTR(RESAMPLE_WINDOW_DIMS), spec.window);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_STRIDES), spec.stride);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_PRE_PADDINGS), spec.pad);
  d.set(HVD_CUDNN_ATTR(RESAMPLE_POST_PADDINGS), spec.pad);
  d.finish();
}

}  // namespace

void Graph::convolve(const ConvolutionSpec& spec, Tensor x, Tensor weight, Tensor y) {
  Descriptor& convolution = keep(HVD_CUDNN_DESCRIPTOR(CONVOLUTION));
  describe(convolution, spec);
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_CONVOLUTION_FORWARD));
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_CONV_DESC), convolution);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_X), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_W), weight);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_Y), y);
  factors(d, spec.compute, HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_ALPHA), HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_FORWARD_BETA));
  operation(d);
}

void Graph::convolve_grad_input(const ConvolutionSpec& spec, Tensor grad, Tensor weight, Tensor grad_x) {
  Descriptor& convolution = keep(HVD_CUDNN_DESCRIPTOR(CONVOLUTION));
  describe(convolution, spec);
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_CONVOLUTION_BACKWARD_DATA));
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC), convolution);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_DY), grad);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_W), weight);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_DX), grad_x);
  factors(d, spec.compute, HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_ALPHA), HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_DATA_BETA));
  operation(d);
}

void Graph::convolve_grad_weight(const ConvolutionSpec& spec, Tensor grad, Tensor x, Tensor grad_weight) {
  Descriptor& convolution = keep(HVD_CUDNN_DESCRIPTOR(CONVOLUTION));
  describe(convolution, spec);
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_CONVOLUTION_BACKWARD_FILTER));
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC), convolution);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_DY), grad);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_X), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_DW), grad_weight);
  factors(d, spec.compute, HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_ALPHA), HVD_CUDNN_ATTR(OPERATION_CONVOLUTION_BWD_FILTER_BETA));
  operation(d);
}

void Graph::pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, Tensor x, Tensor y) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(POINTWISE));
  kind.set(HVD_CUDNN_ATTR(POINTWISE_MODE), mode);
  kind.set(HVD_CUDNN_ATTR(POINTWISE_MATH_PREC), compute);
  kind.finish();
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_POINTWISE));
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_PW_DESCRIPTOR), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_XDESC), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_YDESC), y);
  operation(d);
}

void Graph::pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, Tensor x, Tensor b, Tensor y) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(POINTWISE));
  kind.set(HVD_CUDNN_ATTR(POINTWISE_MODE), mode);
  kind.set(HVD_CUDNN_ATTR(POINTWISE_MATH_PREC), compute);
  kind.finish();
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_POINTWISE));
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_PW_DESCRIPTOR), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_XDESC), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_BDESC), b);
  d.set(HVD_CUDNN_ATTR(OPERATION_POINTWISE_YDESC), y);
  operation(d);
}

void Graph::multiply(cudnnDataType_t compute, Tensor a, Tensor b, Tensor c) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(MATMUL));
  kind.set(HVD_CUDNN_ATTR(MATMUL_COMP_TYPE), compute);
  kind.finish();
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_MATMUL));
  d.set(HVD_CUDNN_ATTR(OPERATION_MATMUL_DESC), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_MATMUL_ADESC), a);
  d.set(HVD_CUDNN_ATTR(OPERATION_MATMUL_BDESC), b);
  d.set(HVD_CUDNN_ATTR(OPERATION_MATMUL_CDESC), c);
  operation(d);
}

void Graph::reduce(cudnnReduceTensorOp_t op, cudnnDataType_t compute, Tensor x, Tensor y) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(REDUCTION));
  kind.set(HVD_CUDNN_ATTR(REDUCTION_OPERATOR), op);
  kind.set(HVD_CUDNN_ATTR(REDUCTION_COMP_TYPE), compute);
  kind.finish();
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_REDUCTION));
  d.set(HVD_CUDNN_ATTR(OPERATION_REDUCTION_DESC), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_REDUCTION_XDESC), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_REDUCTION_YDESC), y);
  operation(d);
}

void Graph::reshape(Tensor x, Tensor y) {
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_RESHAPE));
  d.set(HVD_CUDNN_ATTR(OPERATION_RESHAPE_XDESC), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_RESHAPE_YDESC), y);
  operation(d);
}

void Graph::pool(const PoolingSpec& spec, Tensor x, Tensor y) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(RESAMPLE));
  describe(kind, spec);
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_RESAMPLE_FWD));
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_FWD_DESC), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_FWD_XDESC), x);
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_FWD_YDESC), y);
  operation(d);
}

void Graph::pool_grad(const PoolingSpec& spec, Tensor grad, Tensor grad_x) {
  Descriptor& kind = keep(HVD_CUDNN_DESCRIPTOR(RESAMPLE));
  describe(kind, spec);
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_RESAMPLE_BWD));
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_BWD_DESC), kind);
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_BWD_DYDESC), grad);
  d.set(HVD_CUDNN_ATTR(OPERATION_RESAMPLE_BWD_DXDESC), grad_x);
  operation(d);
}

void Graph::batch_norm(const NormForward& o) {
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_NORM_FORWARD));
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_MODE), CUDNN_BATCH_NORM);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_PHASE), CUDNN_NORM_FWD_TRAINING);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_XDESC), *o.x);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_MEAN_DESC), *o.mean);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_INV_VARIANCE_DESC), *o.inverse_std);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_SCALE_DESC), *o.scale);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_BIAS_DESC), *o.bias);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_EPSILON_DESC), *o.epsilon);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_FWD_YDESC), *o.y);
  operation(d);
}

void Graph::batch_norm_grad(const NormBackward& o) {
  Descriptor& d = keep(HVD_CUDNN_DESCRIPTOR(OPERATION_NORM_BACKWARD));
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_MODE), CUDNN_BATCH_NORM);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_XDESC), *o.x);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_MEAN_DESC), *o.mean);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_INV_VARIANCE_DESC), *o.inverse_std);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_DYDESC), *o.grad);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_SCALE_DESC), *o.scale);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_DSCALE_DESC), *o.grad_scale);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_DBIAS_DESC), *o.grad_bias);
  d.set(HVD_CUDNN_ATTR(OPERATION_NORM_BWD_DXDESC), *o.grad_x);
  operation(d);
}

void Graph::finish(const Target& target) {
  graph_.emplace(HVD_CUDNN_DESCRIPTOR(OPERATIONGRAPH));
  if (target.handle) graph_->set(HVD_CUDNN_ATTR(OPERATIONGRAPH_HANDLE), target.handle);
  graph_->set(HVD_CUDNN_ATTR(OPERATIONGRAPH_OPS), operations_);
  graph_->finish();
}

}  // namespace hvd::backends::cuda::graph
