// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/binding.hpp"

#include "device/cuda/check.hpp"

#include <hvd/dist/session.hpp>

#include <cstdio>
#include <cstdlib>

namespace hvd::backends::cuda {

namespace {

int number(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 ? static_cast<int>(value) : -1;
}

/// Rank and number of ranks on this host as launchers tell them: Open MPI, MPICH and Intel MPI, MVAPICH, Slurm, hvd-run (one host).
struct HostRank {
  int rank = 0, size = 1;
};
HostRank host_rank() {
  constexpr const char* kVariables[][2] = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                           {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                           {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
                                           {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
                                           {"HVD_RUN_RANK", "HVD_RUN_SIZE"}};
  for (const auto& [rank, size] : kVariables)
    if (const int at = number(rank); at >= 0) return {at, number(size)};
  return {local_rank(), size()};  // hvd-run's variables are gone once the session has begun; its ranks share one host
}

}  // namespace

int count_devices(std::string& why) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  const bool none = status == cudaSuccess || status == cudaErrorNoDevice;
  why = none ? "no CUDA device" : std::string("no CUDA device (") + cudaGetErrorString(status) + ")";
  cudaGetLastError();
  return 0;
}

int bound_device() {
  static const int device = [] {
    std::string why;
    const int count = count_devices(why);
    if (count == 0) fail("cudaGetDeviceCount", why.c_str());
    const HostRank host = host_rank();
    if (host.rank == 0 && host.size > count)
      std::fprintf(stderr, "hvdize: %d ranks of this host share %d GPU%s\n", host.size, count, count == 1 ? "" : "s");
    return host.rank % count;
  }();
  return device;
}

int current_rank() { return rank(); }

}  // namespace hvd::backends::cuda
