// SPDX-License-Identifier: Apache-2.0
#pragma once

// Slices of global batches, for any framework: this rank's part of a batch that every rank holds, or could hold, whole.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <hvd/core/slice.hpp>

namespace hvd {

namespace dist {

/// Rank r of n takes the rows [r*g/n, (r+1)*g/n) of a global batch of g rows; none: a filler.
constexpr Slice cut(std::int64_t global_rows, int rank, int size) {
  const std::int64_t first = global_rows * rank / size, last = global_rows * (rank + 1) / size;
  return Slice{global_rows, first, last - first, last == first};
}

/// The rows that `rank` takes under the strategy in force: as many as its share (HVD_SHARES) says, the same of all without one; with a parameter server rank 0 takes none, and the workers take as many as each
/// other, the first of them one more while there is a remainder. Where shares are measured: by those in force now. Local.
Slice slice_of(std::int64_t global_rows, int rank);
/// What `rank` takes of the batch of which `mine` is this rank's slice: by the shares that it was cut by, whatever they are now. Error
/// (std::logic_error): it was cut so long ago that they are forgotten. Local.
Slice slice_of(const Slice& mine, int rank);

class PassSplits;  // by which shares a pass over a loader cuts its batches

/// Throws std::runtime_error where shares are measured: `what` must find the same shares from one step to the next. Local.
void refuse_measured_shares(const char* what);

}  // namespace dist

/// One step of a hand-written batch loop, from here to the end of the block. The first `shard` inside it fixes the slice. Local.
class StepScope {
 public:
  StepScope();
  /// Throws what a mean over ranks throws that is due here, unless an exception is leaving the block.
  ~StepScope() noexcept(false);
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

  /// Fixes the number of rows of the global batch, or checks it against what an earlier call of the step fixed.
  const Slice& fix(std::int64_t global_rows, const char* what);
  /// This rank's slice of a batch of so many rows, as `fix` would make it now.
  Slice cut(std::int64_t global_rows) const;
  bool fixed() const { return fixed_; }
  /// Number of the shares by which it cuts (Slice::split).
  std::int64_t split() const { return split_; }

 private:
  Slice slice_{};
  std::int64_t split_ = 0;
  bool fixed_ = false;
  const Slice* outer_slice_ = nullptr;
  StepScope* outer_scope_ = nullptr;
  int exceptions_at_start_ = 0;
};

/// For what a step takes beside its batch: `shard(noise, own_rows)` is this rank's part as long as the batch has as many rows. Beside a batch of another
/// number, a short last one say, every rank has it whole: a mean over it is then the same on all ranks, and so is their weighted mean. What does not
/// combine so in such a step (a sum over samples, a gathering of rows, a count of rows that is not the batch's) is an error.
struct OwnRows {};
inline constexpr OwnRows own_rows{};

namespace detail {

struct Rows {
  std::int64_t first, count;
};
// The rows this rank takes out of `global_rows`, the filler row (row 0) included. All of them outside of any step.
Rows shard_rows(std::int64_t global_rows, const char* what);
Rows shard_own_rows(std::int64_t global_rows, const char* what);
std::int64_t local_rows(std::int64_t global_rows);
std::int64_t local_own_rows(std::int64_t global_rows);
// The row of this rank's tensors that has sample `sample` of the global batch; nothing where another rank has it. `sample` itself outside of any step.
std::optional<std::int64_t> row_of_sample(std::int64_t sample);
std::int64_t row_of_own_sample(std::int64_t sample);
// In a step beside whose batch something is whole, `what` would not be that of the program: an error.
void refuse_beside_whole(const char* what);
// The same, unless so many rows can only be those of this rank's slice.
void refuse_beside_whole(const char* what, std::int64_t rows);
// The rows to be cut out of a state of these extents, with its samples along `dim`, for `carried`; nothing when it is to stay as it is.
std::optional<Rows> carried_rows(const std::vector<std::int64_t>& extents, std::int64_t dim);
// The slice of a batch that this rank has already becomes the step's. An error outside of any step, and when the step has another.
void enter_slice(const Slice& slice);
// The same, but false when the step has a batch of another number of rows, no multiple in which each rank has the same part: this one is to be had whole then.
bool enter_own_slice(const Slice& slice);

/// While it lives, random draws inside a step come from the stream that all ranks share, not from the rank's own.
class SharedDraws {
 public:
  SharedDraws();
  ~SharedDraws() { done(); }
  SharedDraws(const SharedDraws&) = delete;
  SharedDraws& operator=(const SharedDraws&) = delete;
  void done();

 private:
  bool active_ = false;
};

}  // namespace detail

/// `outside_step().keep(loss_of(net, validation))`: what all ranks compute alike in a step, from data that each has whole. Until `keep` has
/// its value (or to the end of the expression) this rank is outside of any step: its numbers are of the whole already, nothing is combined
/// over ranks, and random draws are those that all ranks share. Local.
class OutsideStep {
 public:
  OutsideStep();
  ~OutsideStep() { done(); }
  OutsideStep(const OutsideStep&) = delete;
  OutsideStep& operator=(const OutsideStep&) = delete;

  template <class T>
  T keep(T value) {
    done();
    return value;
  }

 private:
  void done();

  bool active_ = false;
  int depth_ = 0;
  const Slice* slice_ = nullptr;
  StepScope* scope_ = nullptr;
};
inline OutsideStep outside_step() { return {}; }

template <class T>
std::vector<T> shard(const std::vector<T>& whole) {
  const detail::Rows rows = detail::shard_rows(static_cast<std::int64_t>(whole.size()), "shard(vector)");
  return std::vector<T>(whole.begin() + rows.first, whole.begin() + rows.first + rows.count);
}

/// Inside a step: rows of this rank's slice (the filler row included), for a `b` that is the size of the current global batch;
/// outside a step `b`. Error: `b` is not the size of the current batch. Local.
template <class Int>
Int local_batch_size(Int b) {
  return static_cast<Int>(detail::local_rows(static_cast<std::int64_t>(b)));
}
template <class Int>
Int local_batch_size(Int b, OwnRows) {
  return static_cast<Int>(detail::local_own_rows(static_cast<std::int64_t>(b)));
}

/// Inside a step: does this rank have sample `i` of the global batch, counted from 0? Outside of any step: true. Error: the batch has no such
/// sample. Local.
template <class Int>
bool has_sample(Int i) {
  return detail::row_of_sample(static_cast<std::int64_t>(i)).has_value();
}
/// The row that sample `i` of the global batch has in this rank's tensors; outside of any step `i`. Errors: as has_sample; another rank has it. Local.
template <class Int>
Int local_row(Int i) {
  return static_cast<Int>(detail::row_of_own_sample(static_cast<std::int64_t>(i)));
}

}  // namespace hvd
