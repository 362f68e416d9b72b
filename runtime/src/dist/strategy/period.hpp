// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many steps lie between two means of the replicas, and how that changes while a run goes on: the policies of EDDL, and one that goes
// by what it measures. Only rules here: who measures, and how ranks agree, is LocalSteps' business.

#include <cstdint>
#include <string>
#include <string_view>

namespace hvd::dist {

struct PeriodRule {
  enum class Kind {
    fixed,             // always `period`
    grow,              // twice as long after every `epochs` epochs, up to `longest`
    sawtooth,          // the same, and back to `period` once it would be longer than `longest`
    inverse_sawtooth,  // half as long after every `epochs` epochs, and back to `period` once it would be below 1
    time,              // twice as long as long as that makes epochs at least `percent` % quicker; back when one is slower by as much
    overhead,          // as short as the share of the means in the time, at most `percent` %, allows
    adaptive           // longer while means take more than `percent` % of the time, shorter where replicas drift apart by more than `drift`
  };
  Kind kind = Kind::fixed;
  std::int64_t period = 0, epochs = 1, longest = 1024;
  double percent = 5, drift = 0.01;

  /// What it takes to measure after every mean, or epoch.
  bool measures_means() const { return kind == Kind::overhead || kind == Kind::adaptive; }
  bool measures_epochs() const { return kind == Kind::time; }
  std::string text() const;
};

/// "4", "grow:K:E[:MAX]", "sawtooth:K:E:MAX", "inverse-sawtooth:K:E", "time:K[:P]", "overhead:P[:MAX]", "adaptive:P[:D[:MAX]]"; K, E and MAX
/// are numbers from 1 on, P a percentage between 0 and 100, D above 0. False: it is none of these.
bool read_period(std::string_view text, PeriodRule& rule);
/// For messages.
extern const char* const kPeriodForms;

/// The current period under a rule. All ranks must tell it the same.
class Period {
 public:
  explicit Period(const PeriodRule& rule);
  std::int64_t now() const { return now_; }
  /// An epoch is over; seconds for each of its steps.
  void epoch_over(double seconds_per_step);
  /// A mean has been taken, after `steps` steps: seconds that it took, and those that each step took; `drift`: root of the mean square, over
  /// ranks, of the distance of a replica from the mean, over the length of the mean.
  void mean_taken(double mean_seconds, double step_seconds, double drift);

 private:
  void set(std::int64_t period);
  void by_time(double seconds_per_step);

  PeriodRule rule_;
  std::int64_t now_, epochs_ = 0;
  double last_epoch_ = 0;  // seconds per step; 0: none yet
  bool lengthened_ = true;
};

}  // namespace hvd::dist
