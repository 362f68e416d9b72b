// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

namespace hvd::nn::utils {

/// Scales all gradients by min(1, max_norm / (total + 1e-6)), where total is the norm (p-norm; infinity allowed) of all of
/// them together, which it returns. Undefined gradients are passed over.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2);
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2);
/// Clamps every gradient element to [-value, value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double value);
void clip_grad_value_(const Tensor& parameter, double value);

}  // namespace hvd::nn::utils
