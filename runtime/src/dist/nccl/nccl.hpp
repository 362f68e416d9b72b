// SPDX-License-Identifier: Apache-2.0
#pragma once

// NCCL, loaded when GPUs are first used: programs without a GPU, and machines without NCCL, never touch it. The declarations are our own, so that
// building needs no header of NCCL's; where there is one, device/cuda/nccl.cpp compares them with it.

#include <cstddef>
#include <memory>
#include <string>

namespace hvd::dist {

class Communicator;
class DeviceTransport;

namespace nccl {

using Handle = void*;  // ncclComm_t
using Stream = void*;  // cudaStream_t
struct UniqueId {
  char internal[128];
};
using Result = int;  // ncclResult_t
inline constexpr Result kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7;
using Type = int;  // ncclDataType_t
inline constexpr Type kUint8 = 1, kInt32 = 2, kInt64 = 4, kUint64 = 5, kFloat32 = 7, kFloat64 = 8;
using Op = int;  // ncclRedOp_t
inline constexpr Op kSum = 0, kMax = 2, kMin = 3;

/// ncclConfig_t as of NCCL 2.18; newer libraries go by `size` and `version`.
struct Config {
  static constexpr int kUndefined = -2147483647 - 1;
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
};
inline constexpr int kOldest = 21800;  // the version that Config is of

struct Functions {
  Result (*GetVersion)(int*);
  Result (*GetUniqueId)(UniqueId*);
  Result (*CommInitRankConfig)(Handle*, int ranks, UniqueId, int rank, Config*);
  Result (*CommFinalize)(Handle);
  Result (*CommDestroy)(Handle);
  Result (*CommAbort)(Handle);
  Result (*CommGetAsyncError)(Handle, Result*);
  const char* (*GetErrorString)(Result);
  const char* (*GetLastError)(Handle);
  Result (*AllReduce)(const void*, void*, std::size_t, Type, Op, Handle, Stream);
  Result (*Reduce)(const void*, void*, std::size_t, Type, Op, int root, Handle, Stream);
  Result (*Broadcast)(const void*, void*, std::size_t, Type, int root, Handle, Stream);
  Result (*AllGather)(const void*, void*, std::size_t each, Type, Handle, Stream);
  Result (*ReduceScatter)(const void*, void*, std::size_t each, Type, Op, Handle, Stream);
  Result (*GroupStart)();
  Result (*GroupEnd)();
};

}  // namespace nccl

/// NCCL as this process has it.
struct NcclLibrary {
  nccl::Functions call{};
  int version = 0;
  std::string problem;  // why there is none; empty: there is
};
/// Loaded at the first call, from the library of GPU devices (GpuLibrary::open_nccl), which must be usable.
const NcclLibrary& nccl_library();

/// An NCCL communicator over the ranks of `comm`; collective. Ends the job where the ranks are not connected within `deadline` seconds, or NCCL
/// fails.
std::unique_ptr<DeviceTransport> connect_nccl(Communicator& comm, double deadline);

}  // namespace hvd::dist
