// SPDX-License-Identifier: Apache-2.0
//
// What an AutocastGuard does to the operands of an operation.
#pragma once

#include <hvd/context.hpp>
#include <hvd/tensor.hpp>

namespace hvd::core {

/// An operand of a product: in the dtype of the guard. float64 and integers stay what they are.
inline Tensor autocast_low(const Tensor& t) {
  const Context& c = context();
  if (!c.autocast || !t.defined() || !t.is_floating_point() || t.dtype() == Dtype::kFloat64) return t;
  return t.to(c.autocast_dtype);
}

/// An operand of an operation that needs range or digits.
inline Tensor autocast_wide(const Tensor& t) {
  return context().autocast && t.defined() && is_low_precision(t.dtype()) ? t.to(Dtype::kFloat32) : t;
}

}  // namespace hvd::core
