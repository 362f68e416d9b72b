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

struct Launcher {
  const char* rank;
  const char* size;
};
// Open MPI's mpirun; MPICH's and Intel's, and srun with PMI; MVAPICH; srun with PMIx (rank from PMIx, size from Slurm).
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                   {"PMIX_RANK", "SLURM_NTASKS"}};

}  // namespace

Launch launch_from_environment() {
  for (const Launcher& launcher : kLaunchers) {
    const int rank = number(launcher.rank), size = number(launcher.size);
    if (rank >= 0 && size >= 1) return {rank, size};
  }
  return {};
}

}  // namespace hvd::dist
