// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace hvd::torch_binding {

/// Throws std::runtime_error (HVD4002) when an element-wise loss in the graph of `loss`, or the arithmetic that `loss` is made by, compares every sample
/// of a slice of `rows` samples with every other: results [rows, 1] against targets [rows], which broadcast to [rows, rows]. A rank would compare its own samples only. Looks at the first
/// nodes of the graph; a slice of one sample shows nothing. Local.
void refuse_pairs(const at::Tensor& loss, std::int64_t rows);

}  // namespace hvd::torch_binding
