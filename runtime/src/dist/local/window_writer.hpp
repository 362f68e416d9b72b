// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace hvd::dist {

/// Writes what another core is going to read, and has just read the last contents of. There are two ways: stores into this core's caches, or
/// past them. Which is better depends on where the two cores sit: below one cache the first is about three times as quick as the second; between
/// cores that share none, each line's owner must be asked first, and the second is three to four times as quick as the first (AMD EPYC,
/// measured). A virtual machine's cores may even move from one to the other. So it is measured again and again: what is written does not
/// depend on it.
class WindowWriter {
 public:
  /// The first way is given up where it writes fewer bytes a second than `slow`: it has 8e9 to 4e10 or 2e9.
  explicit WindowWriter(double slow = 5e9) : slow_(slow) {}
  /// Copies; visible to whoever sees what this thread stores afterwards.
  void write(void* to, const void* from, std::size_t bytes);
  /// An operation is through: decides how the next ones write.
  void finish();
  bool past_caches() const { return skip_ > 0; }

  static constexpr int kOperations = 64;  // by the second way, before the first is tried again

 private:
  static constexpr std::size_t kLeast = 8 * 1024;  // bytes of a write that is timed
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double slow_;
  double best_ = kNone;  // seconds for a byte, of the quickest write of this operation
  int skip_ = 0;
};

}  // namespace hvd::dist
