// SPDX-License-Identifier: Apache-2.0
#include "shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <hvd/context.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/slices.hpp>

#include "rank.hpp"

namespace hvd::dist {

Slice cut_by(const Shares& shares, std::int64_t global_rows, int rank) {
  const auto end = [&](int ranks) { return std::accumulate(shares.begin(), shares.begin() + ranks, std::int64_t{0}); };
  const std::int64_t all = end(static_cast<int>(shares.size()));
  const std::int64_t first = global_rows * end(rank) / all, last = global_rows * end(rank + 1) / all;
  return Slice{global_rows, first, last - first, last == first};
}

Slice cut_by_measured(const Shares& shares, std::int64_t global_rows, int rank) {
  const auto ranks = static_cast<std::int64_t>(shares.size());
  const std::int64_t least = std::min<std::int64_t>(2, global_rows / ranks);
  const Slice rest = cut_by(shares, global_rows - least * ranks, rank);
  const std::int64_t rows = rest.rows + least;
  return Slice{global_rows, rest.first_row + least * rank, rows, rows == 0};
}

void SpeedMeter::tick() {
  const std::int64_t now = Trace::now();
  if (working_ && waits_ == 0) busy_ += now - at_;
  at_ = now;
}

void SpeedMeter::working(bool now) {
  tick();
  working_ = now;
}

void SpeedMeter::wait(int more) {
  tick();
  waits_ += more;
}

void SpeedMeter::complete() {
  tick();
  if (rows_ > 0) seconds_per_row_.push_back(static_cast<double>(busy_) * 1e-9 / static_cast<double>(rows_));
  drop();
}

void SpeedMeter::drop() {
  tick();
  busy_ = rows_ = 0;
}

double SpeedMeter::take_median() {
  if (seconds_per_row_.empty()) return 0;
  const auto middle = seconds_per_row_.begin() + static_cast<std::ptrdiff_t>(seconds_per_row_.size() / 2);
  std::nth_element(seconds_per_row_.begin(), middle, seconds_per_row_.end());
  const double median = *middle;
  seconds_per_row_.clear();
  return median;
}

bool ShareRule::feed(const std::vector<double>& seconds_per_row) {
  constexpr double kNewest = 0.5, kWorthIt = 0.05, kSmallest = 1.0 / 16;
  const auto ranks = static_cast<double>(seconds_per_row.size());
  speeds_.resize(seconds_per_row.size());
  for (std::size_t r = 0; r < speeds_.size(); ++r) {
    if (!(seconds_per_row[r] > 0) || !std::isfinite(seconds_per_row[r])) continue;
    const double speed = 1 / seconds_per_row[r];
    speeds_[r] = speeds_[r] > 0 ? speeds_[r] + kNewest * (speed - speeds_[r]) : speed;
  }
  if (std::find(speeds_.begin(), speeds_.end(), 0.0) != speeds_.end()) return false;  // a rank that has not said anything yet
  const double all = std::accumulate(speeds_.begin(), speeds_.end(), 0.0);
  Shares shares;
  for (const double speed : speeds_) shares.push_back(std::llround(std::max(speed / all, kSmallest / ranks) * kWhole));
  for (std::int64_t& share : shares) share = std::max<std::int64_t>(share, 1);
  const auto part = [](const Shares& of, std::size_t r) {
    return static_cast<double>(of[r]) / static_cast<double>(std::accumulate(of.begin(), of.end(), std::int64_t{0}));
  };
  bool worth_it = false;
  for (std::size_t r = 0; r < shares.size(); ++r) {
    const double before = shares_.empty() ? 1 / ranks : part(shares_, r);
    worth_it = worth_it || std::abs(part(shares, r) - before) > kWorthIt * before;
  }
  if (worth_it) shares_ = std::move(shares);
  return worth_it;
}

std::shared_ptr<const Shares> MeasuredShares::shares(std::int64_t split) const {
  if (split == 0) return nullptr;
  if (split <= forgotten_ || split > now()) throw dist::Failure<std::logic_error>("a slice was cut by shares that are forgotten: its batch was loaded too long ago");
  return splits_[static_cast<std::size_t>(split - forgotten_ - 1)];
}

void MeasuredShares::note_step() {
  if (rank_.step == step_seen_) return;
  step_seen_ = rank_.step;
  meter.complete();
  ++steps_;
  stepped_ = true;
}

void MeasuredShares::pass_edge() {
  note_step();  // a validation within the body of a step, behind its reduction
  meter.drop();
  const bool within_a_step = passes_ > 1 || rank_.scope || holds_ > 0;
  if (!within_a_step) stepped_ = false;
}

// Only at the end of a body that the optimizer has stepped in: gradients that are accumulated are of batches cut alike.
void MeasuredShares::body_over(bool outermost) {
  note_step();
  if (!meter.has_rows()) meter.drop();
  if (!outermost || holds_ > 0) return;
  const bool between_steps = std::exchange(stepped_, false) && passes_ == (open_ ? 1 : 0);
  if (steps_ >= every_ && between_steps) exchange();
}

void MeasuredShares::exchange() {
  steps_ = 0;
  const auto ranks = static_cast<std::size_t>(rank_.size());
  struct Report {
    double seconds_per_row;
    std::uint64_t next_batch;
  };
  // Workers that load ahead wait here, so that no batch is cut by the old shares which another rank cuts by the new ones.
  const std::unique_lock<std::mutex> stopped = open_ ? open_->stop() : std::unique_lock<std::mutex>();
  const Report mine{meter.take_median(), open_ ? open_->next() : 0};
  std::vector<Report> reports(ranks);
  rank_.comm->allgather(&mine, sizeof mine, reports.data(), DataType::uint8, {"speeds"});
  std::vector<double> seconds;
  std::uint64_t from = 0;
  for (const Report& report : reports) {
    seconds.push_back(report.seconds_per_row);
    from = std::max(from, report.next_batch);
  }
  // The root decides: processors that round differently must not come to different shares.
  Shares shares(ranks, 0);
  if (rank_.rank() == 0 && rule_.feed(seconds)) shares = rule_.shares();
  rank_.comm->broadcast(shares.data(), ranks, DataType::int64, 0, {"shares"});
  if (shares[0] > 0) adopt(std::move(shares), from);
}

void MeasuredShares::adopt(Shares shares, std::size_t from) {
  constexpr std::size_t kKept = 4096;
  if (rank_.trace) rank_.trace->shares(shares);
  splits_.push_back(std::make_shared<const Shares>(std::move(shares)));
  if (splits_.size() > kKept) {
    splits_.pop_front();
    ++forgotten_;
  }
  if (open_) open_->change(from, now(), splits_.back());
}

void MeasuredShares::begin_pass(PassSplits& pass, bool inside_a_step) {
  if (++passes_ == 1 && !inside_a_step) open_ = &pass;
}

void MeasuredShares::end_pass(const PassSplits& pass) {
  --passes_;
  if (open_ == &pass) open_ = nullptr;
}

// A pass within a step goes by the shares of that step: its rows may be put beside the step's own.
PassSplits::PassSplits() {
  Rank* rank = this_rank();
  if (!rank || !rank->measured) return;
  measured_ = rank->measured.get();
  rank_ = rank->rank();
  size_ = rank->size();
  const Slice* outer = context().current_slice;
  measured_->begin_pass(*this, outer || rank->scope);
  const std::int64_t split = outer ? outer->split : rank->scope ? rank->scope->split() : measured_->now();
  parts_.push_back({0, split, measured_->shares(split)});
}

PassSplits::~PassSplits() {
  if (measured_) measured_->end_pass(*this);
}

Slice PassSplits::cut(std::int64_t global_rows, std::size_t number) {
  if (!measured_) return slice_of(global_rows, hvd::rank());
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = std::max(next_, number + 1);
  const auto part = std::find_if(parts_.rbegin(), parts_.rend(), [&](const Part& p) { return p.from <= number; });
  Slice slice = part->shares ? cut_by_measured(*part->shares, global_rows, rank_) : dist::cut(global_rows, rank_, size_);
  slice.split = part->split;
  return slice;
}

}  // namespace hvd::dist
