// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tensor_impl.hpp"

namespace hvd::core {

/// A 2-d tensor as a matrix product takes it: dense rows, or the transpose of dense rows; copied when it is neither.
struct Matrix {
  Tensor tensor;
  bool transposed;
  int64_t row_length;
};
Matrix as_matrix(const Tensor& t);

/// op(a) op(b), values only.
Tensor multiply(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b);

}  // namespace hvd::core
