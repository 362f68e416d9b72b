// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace hvdize::run {

/// Passes on what a rank writes, in whole lines. What has no end of line yet is passed on after a pause, so that a progress
/// line is seen.
class LineForwarder {
 public:
  using Clock = std::chrono::steady_clock;

  /// From `source`, which it owns, to `target`; each line behind `prefix`.
  LineForwarder(int source, int target, std::string prefix);
  ~LineForwarder();
  LineForwarder(LineForwarder&& other) noexcept;
  LineForwarder& operator=(LineForwarder&&) = delete;

  int source() const { return source_; }
  bool open() const { return source_ >= 0; }
  /// There is something to read, or the end.
  void read();
  /// Passes an unfinished line on when the rank has paused.
  void tick(Clock::time_point now);
  bool pending() const { return !line_.empty(); }
  /// Passes on all there is.
  void finish();

 private:
  void write(const char* data, size_t size);
  void passOn(size_t size);

  int source_, target_;
  std::string prefix_, line_;
  bool lineBegun_ = false;  // a part of the current line has been passed on
  Clock::time_point lastRead_{};
};

}  // namespace hvdize::run
