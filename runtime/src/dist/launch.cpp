// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "backends.hpp"

namespace hvd::dist {

namespace {

// A non-negative number in the environment, or -1.
int number(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 ? static_cast<int>(value) : -1;
}

struct Variables {
  const char* rank;
  const char* size;
};
// Open MPI's mpirun; MPICH's and Intel's, and srun with PMI; MVAPICH; srun with PMIx (rank from PMIx, size from Slurm).
constexpr Variables kMpi[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                              {"PMI_RANK", "PMI_SIZE"},
                              {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                              {"PMIX_RANK", "SLURM_NTASKS"}};
// hvd-run's (tool/run): the last two say where the ranks meet.
constexpr const char* kHvdRun[] = {"HVD_RUN_RANK", "HVD_RUN_SIZE", "HVD_RUN_OWNER", "HVD_RUN_FILE"};

}  // namespace

Launch launch_from_environment() {
  const Launch run{Launcher::hvd_run, number(kHvdRun[0]), number(kHvdRun[1]), number(kHvdRun[2]), number(kHvdRun[3])};
  if (run.rank >= 0 && run.size > run.rank && run.owner > 0 && run.file >= 0) return run;
  for (const Variables& variables : kMpi) {
    const int rank = number(variables.rank), size = number(variables.size);
    if (rank >= 0 && size >= 1) return {Launcher::mpi, rank, size};
  }
  return {};
}

void forget_launch() {
  for (const char* variable : kHvdRun) unsetenv(variable);
}

}  // namespace hvd::dist
