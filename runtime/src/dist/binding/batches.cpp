// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/batches.hpp>

#include <algorithm>
#include <exception>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/numbers.hpp>

#include "../rank.hpp"

namespace hvd {

using dist::Rank;

StepScope::StepScope() {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  exceptions_at_start_ = std::uncaught_exceptions();
  outer_slice_ = context().current_slice;
  outer_scope_ = rank->scope;
  if (rank->measured) split_ = outer_slice_ ? outer_slice_->split : outer_scope_ ? outer_scope_->split_ : rank->measured->now();
  context().current_slice = nullptr;
  rank->scope = this;
  dist::begin_batch();
  dist::trace_phase(dist::Phase::forward);
  rank->enter_step();
}

StepScope::~StepScope() noexcept(false) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->scope != this) return;
  rank->leave_step();
  dist::trace_phase(dist::Phase::none);
  context().current_slice = outer_slice_;
  rank->scope = outer_scope_;
  if (std::uncaught_exceptions() != exceptions_at_start_) return;
  dist::body_over(!outer_slice_ && !outer_scope_);
  dist::after_step(false);
}

OutsideStep::OutsideStep() {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  dist::settle();
  active_ = true;
  slice_ = std::exchange(context().current_slice, nullptr);
  scope_ = std::exchange(rank->scope, nullptr);
  depth_ = rank->suspend_steps();
  if (rank->measured) rank->measured->hold(true);
}

void OutsideStep::done() {
  if (!active_) return;
  active_ = false;
  Rank* rank = dist::this_rank();
  rank->resume_steps(depth_);
  if (rank->measured) rank->measured->hold(false);
  context().current_slice = slice_;
  rank->scope = scope_;
}

namespace {

// One row for each sample of the batch, or several that lie together.
void check_multiple(std::int64_t global_rows, const Slice& slice, const char* what) {
  if (global_rows % slice.global_rows != 0)
    throw dist::Failure<Error>(std::string(what) + ": " + std::to_string(global_rows) + " rows, but this step's batch has " + std::to_string(slice.global_rows));
}

}  // namespace

Slice StepScope::cut(std::int64_t global_rows) const {
  return dist::slice_of(Slice{global_rows, 0, 0, false, split_}, dist::require_rank("shard").rank());
}

const Slice& StepScope::fix(std::int64_t global_rows, const char* what) {
  dist::require_rank(what);
  if (global_rows <= 0) throw dist::Failure<Error>(std::string(what) + ": an empty batch cannot be shared out");
  if (fixed_) check_multiple(global_rows, slice_, what);
  if (!fixed_) {
    slice_ = cut(global_rows);
    fixed_ = true;
    context().current_slice = &slice_;
  }
  return slice_;
}

namespace detail {

SharedDraws::SharedDraws() {
  Rank* rank = dist::this_rank();
  active_ = rank && rank->size() > 1 && rank->share_draws(true);
}

void SharedDraws::done() {
  if (active_) dist::this_rank()->share_draws(false);
  active_ = false;
}

namespace {

// In a step whose batch has another number of rows: is something of so many to be whole on every rank? One such number in a step.
bool stays_whole(std::int64_t rows) {
  const Rank* rank = dist::this_rank();
  const Slice* slice = context().current_slice;
  if (!rank || rank->size() == 1 || !slice || rows <= 0) return false;
  if (slice->whole_rows == rows) return true;
  if (slice->whole_rows != 0 || rows % slice->global_rows == 0) return false;
  slice->whole_rows = rows;
  return true;
}

// Has each rank the same part of both batches? Then it has the weight of both.
bool in_proportion(const Slice& a, const Slice& b, int ranks) {
  for (int r = 0; r < ranks; ++r) {
    const Slice x = dist::slice_of(a, r), y = dist::slice_of(b, r);
    if (x.filler || y.filler || x.rows * b.global_rows != y.rows * a.global_rows) return false;
  }
  return true;
}

}  // namespace

Rows shard_rows(std::int64_t global_rows, const char* what) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return {0, global_rows};
  const Slice* running = context().current_slice;
  // Outside of any step all ranks do the same with the same batch: a helper of the training loop that evaluation uses too.
  if (!rank->scope && !running) return {0, global_rows};
  if (global_rows <= 0) throw dist::Failure<Error>(std::string(what) + ": an empty batch cannot be shared out");
  if (!rank->scope) check_multiple(global_rows, *running, what);
  const Slice& slice = rank->scope ? rank->scope->fix(global_rows, what) : *running;
  const std::int64_t each = global_rows / slice.global_rows;
  if (slice.filler) return {0, each};
  return {slice.first_row * each, slice.rows * each};
}

Rows shard_own_rows(std::int64_t global_rows, const char* what) {
  return stays_whole(global_rows) ? Rows{0, global_rows} : shard_rows(global_rows, what);
}

void refuse_beside_whole(const char* what) {
  const Slice* slice = context().current_slice;
  if (!slice || slice->whole_rows == 0) return;
  throw dist::Failure<Error>(std::string(what) + ": this step's batch has " + std::to_string(slice->global_rows) + " rows, and what stands beside it has " +
              std::to_string(slice->whole_rows) + ", which every rank has whole: means combine over ranks here, and this does not (leave out batches that are not whole)");
}

void refuse_beside_whole(const char* what, std::int64_t rows) {
  const Slice* slice = context().current_slice;
  if (!slice || slice->whole_rows == 0) return;
  bool clear = rows == slice->local_rows();
  for (int r = 0; r < dist::require_rank(what).size(); ++r) clear = clear && dist::slice_of(*slice, r).local_rows() != slice->whole_rows;
  if (!clear) refuse_beside_whole(what);
}

bool enter_own_slice(const Slice& slice) {
  const Rank* rank = dist::this_rank();
  const Slice* step = context().current_slice;
  if (rank && rank->size() > 1 && step && step->global_rows != slice.global_rows) {
    if (step->whole_rows != slice.global_rows && slice.global_rows % step->global_rows == 0 && in_proportion(slice, *step, rank->size())) return true;
    if (step->whole_rows == 0) step->whole_rows = slice.global_rows;
    if (step->whole_rows == slice.global_rows) return false;
  }
  return enter_slice(slice), true;
}

void enter_slice(const Slice& slice) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  const Slice* around = rank->scope ? nullptr : context().current_slice;  // that of hvd::steps
  if (!rank->scope && !around) throw dist::Failure<Error>("batches: a batch of this rank's is read outside of a training step");
  const Slice& step = around ? *around : rank->scope->fix(slice.global_rows, "batches");
  if (step.global_rows != slice.global_rows || step.first_row != slice.first_row || step.rows != slice.rows)
    throw dist::Failure<Error>("batches: a batch of " + std::to_string(slice.global_rows) + " rows in a step whose batch has " + std::to_string(step.global_rows) +
                "; those of one step must be of one size (leave out batches that are not whole, in both loaders)");
}

std::optional<Rows> carried_rows(const std::vector<std::int64_t>& extents, std::int64_t dim) {
  Rank* rank = dist::this_rank();
  const Slice* slice = context().current_slice;
  if (!rank || rank->size() == 1 || !slice) return std::nullopt;  // in a step whose batch is still to come: cut where the state meets it
  const std::int64_t rows = extents[static_cast<std::size_t>(dim)];
  // One row goes with every sample, if it is one: not where the samples run along another dimension.
  const bool elsewhere = rows == 1 && slice->global_rows > 1 && std::count(extents.begin(), extents.end(), slice->global_rows) > 0;
  if (rows == slice->local_rows() && !elsewhere) return std::nullopt;
  if (rows == 1 && !elsewhere) return std::nullopt;
  if (rows != slice->global_rows)
    throw dist::Failure<Error>("carried: a state with " + std::to_string(rows) + " rows along dimension " + std::to_string(dim) + ", but this step's batch has " +
                std::to_string(slice->global_rows) + ", " + std::to_string(slice->local_rows()) + " of them on this rank");
  return Rows{slice->filler ? 0 : slice->first_row, slice->local_rows()};
}

Tensor& carry_state(Tensor& state, int64_t dim) {
  if (!state.defined() || dim >= state.dim()) return state;
  if (const auto rows = carried_rows(state.sizes(), dim)) state = state.narrow(dim, rows->first, rows->count).clone();
  return state;
}

Tensor shard_tensor(const Tensor& whole, int64_t dim, bool own) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return whole;
  if (!whole.defined() || dim < 0 || whole.dim() <= dim) throw dist::Failure<Error>("shard: a tensor with a batch dimension is needed");
  const Rows rows = own ? shard_own_rows(whole.size(dim), "shard") : shard_rows(whole.size(dim), "shard");
  return whole.narrow(dim, rows.first, rows.count);
}

std::int64_t local_rows(std::int64_t global_rows) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return global_rows;
  if (const Slice* slice = context().current_slice) {
    if (slice->global_rows == global_rows) return slice->local_rows();
    // Batches that a program alone fills may leave a short one to the job, whose batches are larger.
    const bool short_one = slice->global_rows < global_rows && rank->batch_size == global_rows;
    throw dist::Failure<Error>("local_batch_size: " + std::to_string(global_rows) + " is not the size of the current batch, " +
                std::to_string(slice->global_rows) + (short_one ? ": a short last one (HVD_BATCH=global keeps the program's batches)" : ""));
  }
  if (!rank->scope) return global_rows;
  return rank->scope->cut(global_rows).local_rows();  // before the first shard of the step
}

std::int64_t local_own_rows(std::int64_t global_rows) {
  const Slice* slice = context().current_slice;
  if (!slice || slice->global_rows == global_rows) return local_rows(global_rows);
  return shard_own_rows(global_rows, "local_batch_size").count;
}

std::optional<std::int64_t> row_of_sample(std::int64_t sample) {
  if (!in_sharded_step()) return sample;
  const Slice& slice = *context().current_slice;
  if (sample < 0 || sample >= slice.global_rows)
    throw dist::Failure<Error>("has_sample: there is no sample " + std::to_string(sample) + " in the current batch of " + std::to_string(slice.global_rows));
  refuse_beside_whole("has_sample");
  const std::int64_t row = sample - slice.first_row;
  return !slice.filler && row >= 0 && row < slice.rows ? std::optional<std::int64_t>(row) : std::nullopt;
}

std::int64_t row_of_own_sample(std::int64_t sample) {
  const std::optional<std::int64_t> row = row_of_sample(sample);
  if (!row) throw dist::Failure<Error>("local_row: another rank has sample " + std::to_string(sample) + " of the current batch");
  return *row;
}

}  // namespace detail
}  // namespace hvd
