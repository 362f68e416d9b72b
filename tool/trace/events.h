// SPDX-License-Identifier: Apache-2.0
//
// The events of a run, as the runtime's HVD_TRACE writes them.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace hvdize::trace {

struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Event {
  int rank = 0, track = 0;
  std::string category, name, op;  // category: phase, collective, message, wait, bucket, push, pull
  double start = 0, length = 0;    // microseconds on the root's clock
  std::uint64_t bytes = 0, number = 0, staleness = 0;
  std::string backend, place;  // place: "train.cpp:40", or empty
  double end() const { return start + length; }
};

struct Run {
  int ranks = 1;
  std::vector<int> present;  // ranks whose events are there, in order
  bool complete = true;      // false: put together from the parts that an abort has left
  std::string backend;
  std::map<int, std::string> names;                        // of ranks: "rank 0 (host)"
  std::map<std::pair<int, int>, std::string> track_names;  // by rank and track
  std::vector<Event> events;                               // by start
  std::vector<std::string> lines;                          // of an incomplete run: its events as they stand in the parts
};

/// Reads `path`, or, where that is not there, the parts `path.rank<r>` of a run that did not come to its end. Throws TraceError that says
/// what is missing, or which file is wrong and where.
Run readRun(const std::string& path);

/// One trace file out of the lines of an incomplete run. Throws TraceError.
void writeMerged(const Run& run, const std::string& path);

}  // namespace hvdize::trace
