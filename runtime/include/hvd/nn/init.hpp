// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

/// Initial values, drawn in place from the default generator and not recorded for backward.
namespace hvd::nn::init {

Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
Tensor constant_(const Tensor& tensor, Scalar value);
Tensor zeros_(const Tensor& tensor);
Tensor ones_(const Tensor& tensor);
/// Uniform on [-b, b], b = sqrt(6 / ((1 + a^2) fan_in)) (He et al. 2015); fan_in = numel / size(0), for tensors of 2 or more dimensions.
Tensor kaiming_uniform_(const Tensor& tensor, double a = 0);
/// Normal with standard deviation sqrt(2 / ((1 + a^2) fan_in)).
Tensor kaiming_normal_(const Tensor& tensor, double a = 0);
/// Uniform on [-b, b], b = gain sqrt(6 / (fan_in + fan_out)) (Glorot, Bengio 2010).
Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
Tensor xavier_normal_(const Tensor& tensor, double gain = 1);

}  // namespace hvd::nn::init
