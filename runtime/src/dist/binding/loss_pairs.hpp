// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <cstdint>

namespace hvd::dist {

/// Throws hvd::Error (HVD4002) when the arithmetic that `loss` is made by combines every sample of a slice of `rows` samples with every other: results
/// [rows, 1] against targets [rows], which broadcast to [rows, rows]. A rank would compare its own samples only. Looks at the nodes nearest to the
/// loss, up to the network's last layer; a slice of one sample shows nothing. Local.
void refuse_pairs(const Tensor& loss, std::int64_t rows);

}  // namespace hvd::dist
