// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

namespace hvd::nn {

/// Options of cross_entropy and nll_loss. `weight`: one factor per class, [C]; `ignore_index`: targets of this value count for
/// nothing. With kMean the sum of weighted terms is divided by the sum of the weights that counted.
class CrossEntropyLossOptions {
 public:
  CrossEntropyLossOptions& reduction(Reduction value);
  CrossEntropyLossOptions& ignore_index(int64_t value);
  CrossEntropyLossOptions& weight(Tensor value);
  Reduction reduction() const { return reduction_; }
  int64_t ignore_index() const { return ignore_index_; }
  const Tensor& weight() const { return weight_; }

 private:
  Reduction reduction_ = Reduction::kMean;
  int64_t ignore_index_ = -100;
  Tensor weight_;
};
using NLLLossOptions = CrossEntropyLossOptions;

class MSELossOptions {
 public:
  MSELossOptions() = default;
  MSELossOptions(Reduction value) : reduction_(value) {}
  MSELossOptions& reduction(Reduction value);
  Reduction reduction() const { return reduction_; }

 private:
  Reduction reduction_ = Reduction::kMean;
};

/// Options of a two-dimensional window: kernel size, stride (kernel size unless set) and padding.
class MaxPool2dOptions {
 public:
  MaxPool2dOptions(int64_t kernel_size) : MaxPool2dOptions(IntList{kernel_size, kernel_size}) {}
  MaxPool2dOptions(IntList kernel_size);
  MaxPool2dOptions& stride(int64_t value) { return stride(IntList{value, value}); }
  MaxPool2dOptions& stride(IntList value);
  MaxPool2dOptions& padding(int64_t value) { return padding(IntList{value, value}); }
  MaxPool2dOptions& padding(IntList value);
  const int64_t* kernel_size() const { return kernel_; }
  const int64_t* stride() const { return stride_; }
  const int64_t* padding() const { return padding_; }

 private:
  int64_t kernel_[2];
  int64_t stride_[2];
  int64_t padding_[2] = {0, 0};
};

}  // namespace hvd::nn

namespace hvd::nn::functional {

using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using MSELossFuncOptions = MSELossOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;

/// Cross entropy of logits [N, C] against class indices [N] (int64). Sums run in float64. A target outside [0, C) that is not
/// ignored throws hvd::Error.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyFuncOptions& options = {});
/// The same for log-probabilities [N, C].
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NLLLossFuncOptions& options = {});
/// (input - target)^2, averaged over all elements with kMean; shapes must agree.
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});

/// x [N, in], weight [out, in], bias [out] or undefined -> [N, out]. Further leading dimensions of x are kept.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// x [N, C, H, W], weight [K, C, kh, kw], bias [K] or undefined -> [N, K, (H + 2p - kh) / s + 1, ...].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding);
/// Largest value of each window of x [N, C, H, W]; the padding never wins.
Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& options);
inline Tensor max_pool2d(const Tensor& x, int64_t kernel_size) { return max_pool2d(x, MaxPool2dFuncOptions(kernel_size)); }

Tensor relu(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor softmax(const Tensor& x, int64_t dim);
Tensor log_softmax(const Tensor& x, int64_t dim);
/// Sets elements to zero with probability p and scales the others by 1 / (1 - p); the identity unless training. The mask is
/// keyed by (seed, counter, row of the global batch, column): it does not depend on how a batch is cut into slices.
Tensor dropout(const Tensor& x, double p = 0.5, bool training = true);
/// Indices [...] (int64) -> [..., num_classes] (int64), ones at the indices.
Tensor one_hot(const Tensor& index, int64_t num_classes);

}  // namespace hvd::nn::functional

namespace hvd {

// Short forms, as in torch::
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target);
Tensor dropout(const Tensor& x, double p, bool training);
Tensor max_pool2d(const Tensor& x, int64_t kernel_size);

}  // namespace hvd
