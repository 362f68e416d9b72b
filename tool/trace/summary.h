// SPDX-License-Identifier: Apache-2.0
//
// What the events of a run add up to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tool/trace/events.h"

namespace hvdize::trace {

struct Calls {
  std::uint64_t calls = 0, bytes = 0;
  double time = 0;  // microseconds
};

/// One rank, times in microseconds.
struct RankSummary {
  int rank = 0;
  std::map<std::string, double> phases;  // by name: loading, forward, ...
  std::map<std::string, Calls> operations;  // by name: "allreduce gradients"
  double traced = 0;   // from the first event to the last
  double hidden = 0;   // of background, while the program's thread did not wait for it
  double background = 0;  // time of the reductions that run beside the program
  double exposed = 0;  // time in which the program's thread waited for collectives
  double late = 0;     // for which the others waited for this rank, in all
  std::uint64_t last = 0;  // collectives to which it came last by more than the threshold
  std::uint64_t batches = 0;
  std::uint64_t pushes = 0, stale = 0, stalest = 0;  // gradients sent to a server; the steps that their parameters lacked, in all and at most
  double batchTime() const { return batches ? busy() / static_cast<double>(batches) : 0; }
  double phase(const std::string& name) const {
    const auto found = phases.find(name);
    return found == phases.end() ? 0 : found->second;
  }
  double busy() const { return phase("loading") + phase("forward") + phase("backward"); }
};

struct Summary {
  std::vector<RankSummary> ranks;
  std::map<std::string, Calls> operations;  // of all ranks
  std::uint64_t matched = 0;  // collectives that were found on all ranks
  int slowest = -1;           // the rank that the others have waited for most; -1: none in particular
  double waited = 0;          // microseconds of all ranks for the last one
};

Summary summarise(const Run& run);

/// What would make the run faster, a sentence each.
std::vector<std::string> advice(const Run& run, const Summary& summary);

/// The summary as lines of text.
std::string print(const Run& run, const Summary& summary);

}  // namespace hvdize::trace
