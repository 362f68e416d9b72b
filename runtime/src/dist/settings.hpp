// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hvd/dist/policy.hpp>

#include "compression/rule.hpp"
#include "strategy/period.hpp"

namespace hvd::dist {

enum class BackendChoice { automatic, self, local, mpi, threads, nccl, mpi_cuda };

/// What a run is set to: the program's policy with the HVD_... variables over it.
struct Settings {
  Policy policy;
  BackendChoice backend = BackendChoice::automatic;
  double deadline = 300;                          // seconds
  std::size_t bucket_bytes = std::size_t{4} << 20;
  // Parameters are averaged every `period` steps, gradients reduced at none, once `local_after` steps have been made; period 0:
  // gradients are reduced at every step.
  std::int64_t period = 0, local_after = 0;
  PeriodRule rule;  // how the period changes from there
  std::vector<std::int64_t> shares;  // of each batch, by rank; none: equal ones
  std::int64_t measured_every = 0;   // shares follow speeds measured over so many optimizer steps; 0: they are as above
  CompressionRule compression;  // of gradients on their way to the other ranks
  // The period is between nodes: gradients are summed within a node at every step. `node_ranks`: ranks of a node, one after another; 0: the
  // ranks of a host are a node.
  bool hierarchical = false;
  int node_ranks = 0;
  bool server = false;  // rank 0 is a parameter server, the others train
  std::int64_t staleness = -1;  // how many of the server's steps a worker may lack; -1: workers wait for every one
  std::string trace;  // the file of the trace; empty: none
  bool check = false;  // every collective and every replica is compared over ranks
  std::string error;  // one line per bad value; empty: all good

  /// What must be the same on all ranks, as text.
  std::string summary() const;
  /// Why they do not fit so many ranks, or nothing.
  std::string misfit(int ranks) const;
};

Settings read_settings(const Policy& defaults);

}  // namespace hvd::dist
