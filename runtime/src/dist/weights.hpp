// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/dist/loss_kind.hpp>

#include "rank.hpp"

namespace hvd::dist {

/// What the gradients of this rank's slice count for: they sum to one over the ranks whose gradients are summed for the mean and counted kinds. Collective for
/// the counted kind.
double gradient_weight(Rank& rank, LossKind kind, const OpName& name);

/// The warm-up factor of the learning rate before step `steps` (from 0) of `warmup` ones, from the unscaled to the scaled rate
/// (Goyal et al. 2017); 1 when there is nothing to warm up.
double warmup_factor(const Rank& rank, std::int64_t steps, std::int64_t warmup);
/// The length of the warm-up. Epochs count in the steps of the loop that is running: an evaluation has another number.
std::int64_t warmup_steps(const Rank& rank);

}  // namespace hvd::dist
