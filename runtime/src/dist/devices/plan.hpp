// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who carries buffers that lie on GPUs: one choice for the job, made from what every rank can do.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../settings.hpp"
#include "transport.hpp"

namespace hvd::dist {

/// What one rank can do: plain bytes, texts cut to length.
struct DeviceFacts {
  char gpu[96] = "";  // GpuLibrary::identity(); empty: there is none
  char gpu_problem[200] = "";
  char nccl_problem[200] = "";
  char mpi_problem[200] = "";
  std::int32_t nccl = 0;      // NCCL's version code; 0: there is none
  std::int32_t mpi_cuda = 0;  // MPI takes addresses of device memory
};
/// Of this process; loads the library of GPU devices, and NCCL where it may be used. `under_mpi`: MPI has started this process.
DeviceFacts device_facts(BackendChoice asked, bool under_mpi);

enum class DeviceWay { staged, nccl, mpi_cuda };

struct DevicePlan {
  DeviceWay way = DeviceWay::staged;
  std::string error;             // why HVD_BACKEND cannot be had, naming the first rank that lacks it; empty: it can
  std::vector<int> sharing;      // the ranks that have no GPU to themselves
};
/// The same on all ranks, as the facts are. NCCL where every rank has a GPU of its own and the same NCCL; else CUDA-aware MPI where all have
/// it; else through the host. HVD_BACKEND=nccl also where GPUs are shared; `local` and `mpi` always go through the host.
DevicePlan plan_devices(const std::vector<DeviceFacts>& facts, BackendChoice asked);

/// The plan of a job, and what the communicators of this rank need to follow it.
class Devices {
 public:
  Devices(BackendChoice asked, double deadline, bool under_mpi) : asked_(asked), deadline_(deadline), under_mpi_(under_mpi) {}

  bool planned() const { return plan_.has_value(); }
  const DevicePlan& plan() const { return *plan_; }
  DeviceFacts facts() const { return device_facts(asked_, under_mpi_); }
  /// `facts` of all ranks, in their order. Ranks that share a GPU get a NCCL_HOSTID of their own, unless the user has set it.
  void adopt(const std::vector<DeviceFacts>& facts, int rank);
  /// For a plan that is there. Collective.
  std::unique_ptr<DeviceTransport> connect(Communicator& comm) const;

 private:
  BackendChoice asked_;
  double deadline_;  // seconds
  bool under_mpi_;
  std::optional<DevicePlan> plan_;
};

}  // namespace hvd::dist
