// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of all ranks in tensors of the training core, and their gradients.

#include <cstdint>

#include <hvd/core/slice.hpp>
#include <hvd/tensor.hpp>

#include "../exchange.hpp"

namespace hvd::dist {

/// Sum over ranks of scale * t, formed in double; `scale` 0 selects zero, whatever `t` holds. Collective.
Tensor scaled_sum(const Tensor& t, double scale, const OpName& name);

/// Where `mine` does not need a gradient, `whole`. Else `whole` as a result of `mine`: it is sum_r scale_r * mine_r, and d L / d mine_r is
/// scale_r * sum_q weight_q * d L_q / d whole, since the loss of each rank is made with it; divided by this rank's weight, which the leaves multiply.
/// Its backward is collective. Errors, on the way back: a sum over samples as the loss, ranks that step on their own (HVD_SYNC), a backward pass
/// that is not one of `weighted`.
Tensor with_gradient_of_mean(const Tensor& whole, const Tensor& mine, double scale, const OpName& name);

/// The same for the rows of all ranks, of which `mine` are this rank's: those of `slice`, `each` for every sample.
Tensor with_gradient_of_rows(const Tensor& whole, const Tensor& mine, const Slice& slice, std::int64_t each, const OpName& name);

}  // namespace hvd::dist
