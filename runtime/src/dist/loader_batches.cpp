// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/dist/loader_batches.hpp>

#include <exception>
#include <optional>

#include <hvd/dist/session.hpp>
#include <hvd/dist/slices.hpp>

#include "rank.hpp"

namespace hvd {

/// A pass that is under way.
struct LoaderBatches::Iterator::Running {
  Running(std::unique_ptr<data::Pass> started, bool own_rows) : pass(std::move(started)), own(own_rows), exceptions_at_start(std::uncaught_exceptions()) { dist::after_step(true); }
  ~Running() {
    if (std::uncaught_exceptions() == exceptions_at_start) dist::after_step(true);
  }

  std::unique_ptr<data::Pass> pass;
  bool own;
  std::optional<data::Batch> all;  // the batch at hand, whole
  int exceptions_at_start;
};

LoaderBatches::Iterator::Iterator(const data::DataLoader& loader, bool own) {
  if (!loader.sampler().is_sharded())
    throw dist::Failure<Error>("hvd::batches: the loader's sampler hands out no slices. Make the loader with a sharded one: "
                "hvd::data::make_data_loader<hvd::Sharded<hvd::data::RandomSampler>>(...)");
  dist::refuse_measured_shares("hvd::batches: batches are taken from a loader by hand");
  dist::note_steps_per_pass(static_cast<int64_t>(loader.size()));
  running_ = std::make_shared<Running>(loader.start(true), own);
  ++*this;
}

data::Batch& LoaderBatches::Iterator::operator*() const {
  const Slice& slice = running_->pass->slice();
  data::Batch& batch = running_->pass->batch();
  if (running_->own) {
    if (detail::enter_own_slice(slice)) return batch;
    if (!running_->all) running_->all = data::Batch{detail::whole_of(batch.data, slice), batch.target.defined() ? detail::whole_of(batch.target, slice) : batch.target};
    return *running_->all;
  }
  detail::enter_slice(slice);
  return batch;
}

LoaderBatches::Iterator& LoaderBatches::Iterator::operator++() {
  running_->all.reset();
  if (!running_->pass->advance()) running_.reset();
  return *this;
}

}  // namespace hvd
