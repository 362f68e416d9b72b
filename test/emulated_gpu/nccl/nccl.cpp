// SPDX-License-Identifier: Apache-2.0
//
// The functions of NCCL that the runtime calls, between processes of one host whose GPUs are emulated. Non-blocking communicators only.
#include "test/emulated_gpu/nccl/communicator.hpp"

#include <vector>

namespace {

using namespace emulated;

/// The calls of a group of this thread.
struct Group {
  int depth = 0;
  std::vector<std::pair<Communicator*, Operation>> calls;
};
Group& group() {
  static thread_local Group instance;
  return instance;
}

Communicator* of(api::Handle handle) { return static_cast<Communicator*>(handle); }

api::Result begin(Communicator* comm, const Operation& operation) {
  if (group().depth > 0) {
    group().calls.emplace_back(comm, operation);
    return api::kSuccess;
  }
  if (operation.stream && !operation.stream->waits_for_computations()) return api::kInvalidUsage;  // the operand may not be there yet
  return comm->start(operation);
}

}  // namespace

extern "C" {

api::Result ncclGetVersion(int* version) {
  *version = 22809;
  return api::kSuccess;
}
api::Result ncclGetUniqueId(api::UniqueId* id) { return Meeting::make_id(*id) ? api::kSuccess : 2; }

api::Result ncclCommInitRankConfig(api::Handle* comm, int ranks, api::UniqueId id, int rank, api::Config* config) {
  if (ranks > kMostRanks || rank < 0 || rank >= ranks) return api::kInvalidArgument;
  if (config->magic != 0xcafebeef || config->size < sizeof(std::size_t) || config->blocking != 0) return api::kInvalidArgument;
  *comm = new Communicator(id, ranks, rank);
  return api::kInProgress;
}

api::Result ncclCommFinalize(api::Handle) { return api::kSuccess; }
api::Result ncclCommDestroy(api::Handle comm) {
  delete of(comm);
  return api::kSuccess;
}
api::Result ncclCommAbort(api::Handle comm) {
  of(comm)->abort();
  delete of(comm);
  return api::kSuccess;
}
api::Result ncclCommGetAsyncError(api::Handle comm, api::Result* state) {
  *state = of(comm)->state();
  return api::kSuccess;
}
const char* ncclGetErrorString(api::Result result) {
  switch (result) {
    case api::kSuccess: return "no error";
    case api::kInvalidArgument: return "invalid argument";
    case api::kInvalidUsage: return "invalid usage";
    case api::kRemoteError: return "remote process exited or there was a network error";
    case api::kInProgress: return "NCCL operation in progress";
    default: return "unhandled error";
  }
}
const char* ncclGetLastError(api::Handle comm) {
  static thread_local std::string text;
  text = comm ? of(comm)->last_error() : "";
  return text.c_str();
}

api::Result ncclAllReduce(const void* in, void* out, std::size_t count, api::Type type, api::Op op, api::Handle comm, api::Stream stream) {
  return begin(of(comm), {Operation::Kind::allreduce, in, out, count, type, op, -1, static_cast<Stream*>(stream)});
}
api::Result ncclReduce(const void* in, void* out, std::size_t count, api::Type type, api::Op op, int root, api::Handle comm, api::Stream stream) {
  return begin(of(comm), {Operation::Kind::reduce, in, out, count, type, op, root, static_cast<Stream*>(stream)});
}
api::Result ncclBroadcast(const void* in, void* out, std::size_t count, api::Type type, int root, api::Handle comm, api::Stream stream) {
  return begin(of(comm), {Operation::Kind::broadcast, in, out, count, type, api::kSum, root, static_cast<Stream*>(stream)});
}
api::Result ncclAllGather(const void* in, void* out, std::size_t each, api::Type type, api::Handle comm, api::Stream stream) {
  return begin(of(comm), {Operation::Kind::allgather, in, out, each, type, api::kSum, -1, static_cast<Stream*>(stream)});
}
api::Result ncclReduceScatter(const void* in, void* out, std::size_t each, api::Type type, api::Op op, api::Handle comm, api::Stream stream) {
  return begin(of(comm), {Operation::Kind::reduce_scatter, in, out, each, type, op, -1, static_cast<Stream*>(stream)});
}

api::Result ncclGroupStart() {
  ++group().depth;
  return api::kSuccess;
}
api::Result ncclGroupEnd() {
  Group& here = group();
  if (here.depth == 0) return api::kInvalidUsage;
  if (--here.depth > 0) return api::kSuccess;
  api::Result result = api::kSuccess;
  if (!here.calls.empty() && !here.calls.front().second.stream->waits_for_computations()) result = api::kInvalidUsage;
  for (const auto& [comm, operation] : here.calls)
    if (result == api::kSuccess || result == api::kInProgress) result = comm->start(operation);
  here.calls.clear();
  return result;
}

}  // extern "C"
