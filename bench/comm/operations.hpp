// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operations that hvd-bench times: by the MPI library itself, and by a communicator of the runtime.

#define OMPI_SKIP_MPICXX 1  // the C interface only
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::bench {

/// Buffers of one rank, as long as the operation wants them for `count` floats.
struct Buffers {
  float* in = nullptr;
  float* out = nullptr;  // null: in place
  dist::Place place;     // of both
};

struct Operation {
  const char* name;
  /// Elements of the two buffers for a message of `count` floats on `ranks` ranks.
  std::size_t (*in_size)(std::size_t count, int ranks);
  std::size_t (*out_size)(std::size_t count, int ranks);
  void (*by_mpi)(const Buffers& buffers, std::size_t count, MPI_Comm comm);
  void (*by_runtime)(const Buffers& buffers, std::size_t count, dist::Communicator& comm);
  /// Whether the buffers are as they must be after one run with element i of rank r set to i % 7 + r.
  bool (*right)(const Buffers& buffers, std::size_t count, int rank, int ranks);
};

const std::vector<Operation>& operations();

}  // namespace hvd::bench
