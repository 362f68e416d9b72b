// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

namespace hvd::nn {

/// Attention of `heads` heads as one operation of the device: query [N, T, E], key and value [N, S, E] give [N, T, E]. `padding` is bool [N, S],
/// true where a key is not to be seen, `mask` bool or added [T, S]; both may be undefined. Undefined where the device has no such operation for
/// these tensors: nothing was done.
Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads, const Tensor& padding, const Tensor& mask);

}  // namespace hvd::nn
