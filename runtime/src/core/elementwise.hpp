// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tensor_impl.hpp"

namespace hvd::core {

/// Values only, no history. Operands broadcast and meet in a common dtype.
Tensor binary_values(backends::Binary op, const Tensor& a, const Tensor& b, const char* name);
Tensor unary_values(backends::Unary op, const Tensor& x, const char* name, Scalar p = 0, Scalar q = 0);

/// x in the dtype in which it meets a number: integers become real for real numbers and for division.
Tensor for_scalar(const Tensor& x, Scalar value, bool divides = false);
/// x itself when it is real, else converted to the default dtype.
Tensor real_operand(const Tensor& x, const char* name);

}  // namespace hvd::core
