// SPDX-License-Identifier: Apache-2.0
#include "weights.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/slices.hpp>

#include "exchange.hpp"

namespace hvd::dist {

double gradient_weight(Rank& rank, LossKind kind, const OpName& name) {
  const Slice* slice = context().current_slice;
  if (slice && rank.measured) rank.measured->meter.add_rows(slice->local_rows());
  const double alike = 1.0 / rank.summing_ranks();  // no slice: all ranks hold the same batch
  const bool filler = slice && slice->filler;
  const double together = slice && !filler ? static_cast<double>(rank.summed_rows(*slice)) : 0;
  switch (kind.form()) {
    case LossKind::Form::mean:
      return filler ? 0 : slice ? static_cast<double>(slice->rows) / together : alike;
    // A node's sum stands for that over the global batch.
    case LossKind::Form::sum:
      detail::refuse_beside_whole("backward of a sum over samples");
      return filler ? 0 : slice ? static_cast<double>(slice->global_rows) / together : alike;
    case LossKind::Form::counted: {
      const double mine = filler ? 0 : kind.count();
      const double all = sum_over(rank.summing(), mine, name);
      if (filler) return 0;
      return all == 0 ? alike : mine / all;  // nothing counted: 0/0 in the program, and so in the gradients
    }
  }
  return alike;
}

std::int64_t warmup_steps(const Rank& rank) {
  const Policy& policy = rank.settings.policy;
  if (policy.warmup_steps() > 0 || policy.warmup_epochs() == 0) return policy.warmup_steps();
  if (rank.steps_per_epoch == 0 || rank.scope)
    throw dist::Failure<Error>("a warm-up in epochs needs a loop over hvd::steps(loader) to count them; give the warm-up in steps");
  return policy.warmup_epochs() * rank.steps_per_epoch;
}

double warmup_factor(const Rank& rank, std::int64_t steps, std::int64_t warmup) {
  if (rank.lr_scale == 1 || warmup == 0 || steps >= warmup) return 1;
  const double from = 1 / rank.lr_scale;
  return from + (1 - from) * static_cast<double>(steps) / static_cast<double>(warmup);
}

}  // namespace hvd::dist
