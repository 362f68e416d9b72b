// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "tool/run/options.h"
#include "tool/run/output.h"

namespace hvdize::run {

/// The ranks of one job, from their start to the end of the last one.
class Job {
 public:
  explicit Job(const Options& options) : options_(options) {}
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Runs the job to its end; the exit status.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { Running, Failing, Asked, Killed };

  struct Rank {
    pid_t pid = -1;
    bool ended = false;
  };

  bool openMeetingPoint();
  bool openSignals();
  int startRank(int rank);
  [[noreturn]] void becomeRank(int rank, int output, int errors, int report) const;
  void loop();
  void readSignals();
  void onSignal(int number, bool fromTerminal);
  void reapRanks();
  void onEnd(int rank, int status);
  void signalAll(int number) const;
  void setPhase(Phase phase, double secondsToNext);
  void onTimeout();
  void drainOutput();
  int living() const;
  void say(const std::string& text) const;

  const Options& options_;
  std::vector<Rank> ranks_;
  std::vector<LineForwarder> outputs_;
  int meetingPoint_ = -1, signals_ = -1;
  Phase phase_ = Phase::Running;
  Clock::time_point next_{};     // when the phase ends
  std::string quietDeath_;       // of a rank, to be told if nobody else does
  int status_ = 0;               // of the job
  bool interrupted_ = false;     // a signal has decided the status
};

}  // namespace hvdize::run
