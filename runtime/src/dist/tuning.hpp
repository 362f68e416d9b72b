// SPDX-License-Identifier: Apache-2.0
#pragma once

// From which size on which way of moving data is taken: measured once for a machine by hvd-tune, kept in the user's cache.

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace hvd::dist {

inline constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// Sizes in bytes of the operand.
struct Tuning {
  std::size_t direct_from = kNever;                   // local: ordinary memory is read by the kernel where it lies, not through windows
  std::size_t exchange_from = std::size_t{32} << 10;  // mpi: an allreduce is an exchange of parts, not the library's own
};

/// What hvd-tune has found, by backend and number of ranks.
class TuningTable {
 public:
  /// The table of the file; empty when there is none. Throws std::runtime_error that names file and line of what is not understood.
  static TuningTable read(const std::string& path);
  /// Puts it into the file, and makes the folder. Throws std::runtime_error.
  void write(const std::string& path) const;
  std::string text() const;

  /// Defaults where the table says nothing.
  Tuning of(const std::string& backend, int ranks) const;
  void set(const std::string& backend, int ranks, std::size_t from) { from_[{backend, ranks}] = from; }
  bool empty() const { return from_.empty(); }

 private:
  std::map<std::pair<std::string, int>, std::size_t> from_;
};

/// HVD_TUNING, or hvd/tuning in $XDG_CACHE_HOME or ~/.cache; empty: no table ("none", or no home).
std::string tuning_path();
/// What this process' table says; a table that is not understood is a message and the defaults. Ranks take rank 0's.
Tuning tuning_for(const std::string& backend, int ranks);

}  // namespace hvd::dist
