// SPDX-License-Identifier: Apache-2.0
#pragma once

// HVD_SHARES=measured: how many rows of a batch each rank takes follows how quickly it has been with those before. Shares change between two
// optimizer steps only, for all ranks at once; a slice knows by which of them it was cut (Slice::split), because batches that are loaded ahead
// were cut before the change.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <hvd/core/slice.hpp>

namespace hvd::dist {

class Rank;

/// Shares of a batch, by rank.
using Shares = std::vector<std::int64_t>;

/// `shares` as they are given: where the ranks before this one end, and where it ends.
Slice cut_by(const Shares& shares, std::int64_t global_rows, int rank);
/// The same for shares that a clock has found. It must not be the clock that leaves a rank without a row, or with the single row that
/// LibTorch's batch norm refuses: a rank has two rows at least where equal shares give every rank two, and one where they give it one.
Slice cut_by_measured(const Shares& shares, std::int64_t global_rows, int rank);

/// How long this rank works on a row. Of the program's thread: its time in steps, loading included, less what it waits for others.
class SpeedMeter {
 public:
  /// The thread goes over to work in a step, or to something that is no part of one.
  void working(bool now);
  /// It waits for other ranks while this lives; null: nobody wants to know.
  class Waiting {
   public:
    explicit Waiting(SpeedMeter* meter) : meter_(meter) {
      if (meter_) meter_->wait(1);
    }
    ~Waiting() {
      if (meter_) meter_->wait(-1);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    SpeedMeter* meter_;
  };
  /// A backward pass over so many rows.
  void add_rows(std::int64_t rows) { rows_ += rows; }
  /// An optimizer step is complete: its time per row becomes one of those whose median counts.
  void complete();
  /// What has been seen since the last complete step is not the time of one.
  void drop();
  bool has_rows() const { return rows_ > 0; }
  /// Seconds per row: the median of the steps since the last call, so that a checkpoint written in one of them does not count. 0: there were none.
  double take_median();

 private:
  void tick();
  void wait(int more);

  bool working_ = false;
  int waits_ = 0;
  std::int64_t at_ = 0, busy_ = 0;  // nanoseconds
  std::int64_t rows_ = 0;
  std::vector<double> seconds_per_row_;
};

/// From times to shares; on the root only, because all ranks must come to the same ones.
class ShareRule {
 public:
  /// Takes the seconds per row of every rank into its mean, in which the newest count half; true when shares by it are worth a change: some
  /// rank's would be off by more than a twentieth.
  bool feed(const std::vector<double>& seconds_per_row);
  /// Parts of kWhole, in sum about it; the smallest is a sixteenth of an equal one.
  const Shares& shares() const { return shares_; }
  static constexpr std::int64_t kWhole = 10000;

 private:
  std::vector<double> speeds_;  // rows per second
  Shares shares_;
};

class PassSplits;

/// The measured shares of a rank's session.
class MeasuredShares {
 public:
  /// Speeds are exchanged after every `every` optimizer steps.
  MeasuredShares(Rank& rank, std::int64_t every) : rank_(rank), every_(every) {}

  SpeedMeter meter;

  /// Number of the shares in force; 0: equal ones, with which a run begins.
  std::int64_t now() const { return forgotten_ + static_cast<std::int64_t>(splits_.size()); }
  /// Null: equal ones. Throws std::logic_error when they are forgotten: the last 4096 are kept.
  std::shared_ptr<const Shares> shares(std::int64_t split) const;

  /// The body of a step has ended; `outermost`: it is no part of another step's body. Collective when enough optimizer steps have been made: there
  /// shares may change.
  void body_over(bool outermost);
  /// A pass begins or ends: an evaluation's time is not that of a step.
  void pass_edge();
  /// Between these two, shares do not change: what is done there is outside of the step, but in the middle of it.
  void hold(bool held) { holds_ += held ? 1 : -1; }

  /// Its shares may change while it runs, unless it runs within a step or began beside another pass.
  void begin_pass(PassSplits& pass, bool inside_a_step);
  void end_pass(const PassSplits& pass);

 private:
  /// The optimizer may have stepped since the last call.
  void note_step();
  void exchange();
  /// New shares for the batches to come, of the open pass from number `from` on.
  void adopt(Shares shares, std::size_t from);

  Rank& rank_;
  std::int64_t every_;
  ShareRule rule_;
  std::deque<std::shared_ptr<const Shares>> splits_;  // number 1 is the first that was measured
  std::int64_t forgotten_ = 0;
  std::int64_t step_seen_ = 0, steps_ = 0;  // the rank's steps as last noted; how often they have grown since the last exchange
  bool stepped_ = false;  // in this body; an evaluation's bodies have no step, and shares do not change in it
  int holds_ = 0, passes_ = 0;
  PassSplits* open_ = nullptr;  // the pass whose shares may change
};

/// By which shares one pass over a loader cuts its batches. Ranks may load ahead by different numbers of batches, so shares are bound to the
/// number of the batch: a change begins behind the last batch that any rank has cut. Made and destroyed on the thread of the loop.
class PassSplits {
 public:
  PassSplits();
  ~PassSplits();
  PassSplits(const PassSplits&) = delete;
  PassSplits& operator=(const PassSplits&) = delete;

  /// This rank's slice of batch `number` of the pass, which has so many rows. Any thread; local.
  Slice cut(std::int64_t global_rows, std::size_t number);

  /// Until the lock goes, no batch is cut. For MeasuredShares.
  std::unique_lock<std::mutex> stop() { return std::unique_lock<std::mutex>(mutex_); }
  /// While stopped: the number behind the last batch that has been cut; and other shares from a number on.
  std::size_t next() const { return next_; }
  void change(std::size_t from, std::int64_t split, std::shared_ptr<const Shares> shares) { parts_.push_back({from, split, std::move(shares)}); }

 private:
  struct Part {
    std::size_t from;
    std::int64_t split;
    std::shared_ptr<const Shares> shares;  // null: equal ones
  };

  MeasuredShares* measured_ = nullptr;  // null: shares are not measured
  int rank_ = 0, size_ = 1;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::vector<Part> parts_;
};

}  // namespace hvd::dist
