// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of all ranks in LibTorch's tensors, and their gradients.

#include <cstdint>

#include <torch/types.h>

#include <hvd/core/slice.hpp>

#include "dist/exchange.hpp"

namespace hvd::torch_binding {

/// Sum over ranks of scale * t, formed in double; `scale` 0 selects zero, whatever `t` holds. Collective.
at::Tensor scaled_sum(const at::Tensor& t, double scale, const dist::OpName& name);

/// Where the numbers of `mine` do not need a gradient, `whole`. Else `whole` as a result of `mine`: it is sum_r scale_r * mine_r, and d L / d mine_r is
/// scale_r * sum_q d L_q / d whole, since the loss of each rank is made with it. Its backward is collective, and knows the seeds of a
/// `weighted(loss, kind).backward()` by the mean, or by counts. Errors, on the way back: a sum over samples as the loss, ranks that
/// step on their own (HVD_SYNC), a gradient of gradients, a backward pass that is not one of `weighted`.
at::Tensor with_gradient_of_mean(const at::Tensor& whole, const at::Tensor& mine, double scale, const dist::OpName& name);

/// The same for the rows of all ranks, of which `mine` are this rank's: those of `slice`, `each` for every sample.
at::Tensor with_gradient_of_rows(const at::Tensor& whole, const at::Tensor& mine, const Slice& slice, std::int64_t each, const dist::OpName& name);

}  // namespace hvd::torch_binding
