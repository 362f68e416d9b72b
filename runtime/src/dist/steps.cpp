// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/dist/steps.hpp>

#include <exception>

#include <hvd/context.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>

#include "rank.hpp"

namespace hvd {

/// A loop that is running. Its slice is the current one from the moment a batch is there until the next one is asked for.
struct Steps::Iterator::Running {
  explicit Running(std::unique_ptr<data::Pass> started, std::shared_ptr<dist::PassSplits> by)
      : splits(std::move(by)), pass(std::move(started)), outer(context().current_slice), exceptions_at_start(std::uncaught_exceptions()) {
    dist::after_step(true);
  }
  ~Running() {
    leave();
    if (std::uncaught_exceptions() == exceptions_at_start) dist::after_step(true);  // at the end, and at a break
  }
  void leave() {
    if (context().current_slice == &slice) context().current_slice = outer;
    dist::trace_phase(dist::Phase::none);
  }
  bool advance() {
    leave();
    dist::body_over(!outer);
    dist::trace_phase(dist::Phase::loading);
    const bool there = pass->advance();
    if (!there) dist::trace_phase(dist::Phase::none);
    if (!there) return false;
    slice = pass->slice();
    dist::begin_batch();
    context().current_slice = &slice;
    dist::trace_phase(dist::Phase::forward);
    return true;
  }

  std::shared_ptr<dist::PassSplits> splits;  // null: the sampler has cut the batches when the pass began
  std::unique_ptr<data::Pass> pass;
  Slice slice;
  const Slice* outer;
  int exceptions_at_start;
};

Steps::Iterator::Iterator(const data::DataLoader& loader) {
  if (!loader.sampler().is_sharded())
    throw dist::Failure<Error>("hvd::steps: the loader's sampler hands out no slices. Make the loader with a sharded one: "
                "hvd::data::make_data_loader<hvd::Sharded<hvd::data::RandomSampler>>(...)");
  dist::note_steps_per_pass(static_cast<int64_t>(loader.size()));
  const dist::Rank* rank = dist::this_rank();
  const auto splits = rank && rank->measured ? std::make_shared<dist::PassSplits>() : nullptr;
  data::DataLoader::Cutter cut;
  if (splits)
    cut = [splits](const std::vector<size_t>& whole, size_t number) {
      return detail::shard_indices(whole, splits->cut(static_cast<int64_t>(whole.size()), number));
    };
  running_ = std::make_shared<Running>(loader.start(true, std::move(cut)), splits);
  ++*this;
}

data::Batch& Steps::Iterator::operator*() const { return running_->pass->batch(); }

Steps::Iterator& Steps::Iterator::operator++() {
  if (running_->advance()) dist::after_step(false);
  else running_.reset();
  return *this;
}

}  // namespace hvd
