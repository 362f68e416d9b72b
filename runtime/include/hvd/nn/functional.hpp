// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/options.hpp>

namespace hvd::nn::functional {

using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BCEWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;

/// Cross entropy of logits [N, C] against class indices [N] (int64). Sums run in float64. A target outside [0, C) that is not
/// ignored throws hvd::Error.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyFuncOptions& options = {});
/// The same for log-probabilities [N, C].
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NLLLossFuncOptions& options = {});
/// (input - target)^2, averaged over all elements with kMean; shapes must agree.
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
/// Binary cross entropy of sigmoid(logits) against targets in [0, 1] of the same shape, without forming the sigmoid; averaged
/// over all elements with kMean.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const BCEWithLogitsFuncOptions& options = {});

/// x [N, in], weight [out, in], bias [out] or undefined -> [N, out]. Further leading dimensions of x are kept.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// x [N, C, H, W], weight [K, C / groups, kh, kw], bias [K] or undefined -> [N, K, (H + 2p - d (kh - 1) - 1) / s + 1, ...].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, IntList dilation = {1, 1},
              int64_t groups = 1);
/// The transpose of a convolution: x [N, C, H, W], weight [C, K / groups, kh, kw], bias [K] or undefined ->
/// [N, K, (H - 1) s - 2p + d (kh - 1) + output_padding + 1, ...].
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                        IntList output_padding = {0, 0}, int64_t groups = 1, IntList dilation = {1, 1});
/// Largest value of each window of x [N, C, H, W]; the padding never wins.
Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& options);
inline Tensor max_pool2d(const Tensor& x, int64_t kernel_size) { return max_pool2d(x, MaxPool2dFuncOptions(kernel_size)); }
/// Average of each window of x [N, C, H, W].
Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& options);
inline Tensor avg_pool2d(const Tensor& x, int64_t kernel_size) { return avg_pool2d(x, AvgPool2dFuncOptions(kernel_size)); }
/// Averages of x [N, C, H, W] over rows [floor(i H / oh), ceil((i + 1) H / oh)) and columns likewise -> [N, C, oh, ow].
Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveAvgPool2dFuncOptions& options);
/// (x - mean) / sqrt(variance + eps) over the last dimensions `normalized_shape`, times weight plus bias (both of that shape, or
/// undefined). The variance is the biased one (Ba, Kiros, Hinton 2016).
Tensor layer_norm(const Tensor& x, IntList normalized_shape, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// Rows of weight [V, E] for indices [...] (int64) -> [..., E]. The row `padding_idx` takes no gradient; -1: none.
Tensor embedding(const Tensor& index, const Tensor& weight, int64_t padding_idx = -1);
/// Bool [length, length], true above the diagonal: what position i may not see when it sees the positions up to i.
Tensor causal_mask(int64_t length, Device device);
Tensor causal_mask(int64_t length);

Tensor relu(const Tensor& x);
/// x where it is positive, else negative_slope x.
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
/// x Phi(x) (Hendrycks, Gimpel 2016); approximate "tanh" takes the formula with tanh in place of "none", the exact one.
Tensor gelu(const Tensor& x, const std::string& approximate = "none");
/// log(1 + exp(x)).
Tensor softplus(const Tensor& x);
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
