// SPDX-License-Identifier: Apache-2.0
#include "nccl.hpp"

#include <dlfcn.h>

#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function && problem.empty()) problem = std::string("NCCL lacks ") + name;
  return function != nullptr;
}

bool find_all(void* library, nccl::Functions& f, std::string& problem) {
  return find(library, "ncclGetVersion", f.GetVersion, problem) && find(library, "ncclGetUniqueId", f.GetUniqueId, problem) &&
         find(library, "ncclCommInitRankConfig", f.CommInitRankConfig, problem) && find(library, "ncclCommFinalize", f.CommFinalize, problem) &&
         find(library, "ncclCommDestroy", f.CommDestroy, problem) && find(library, "ncclCommAbort", f.CommAbort, problem) &&
         find(library, "ncclCommGetAsyncError", f.CommGetAsyncError, problem) && find(library, "ncclGetErrorString", f.GetErrorString, problem) &&
         find(library, "ncclGetLastError", f.GetLastError, problem) && find(library, "ncclAllReduce", f.AllReduce, problem) &&
         find(library, "ncclReduce", f.Reduce, problem) && find(library, "ncclBroadcast", f.Broadcast, problem) &&
         find(library, "ncclAllGather", f.AllGather, problem) && find(library, "ncclReduceScatter", f.ReduceScatter, problem) &&
         find(library, "ncclGroupStart", f.GroupStart, problem) && find(library, "ncclGroupEnd", f.GroupEnd, problem);
}

NcclLibrary load() {
  NcclLibrary library;
  void* const handle = backends::require_gpu().open_nccl(library.problem);
  if (!handle || !find_all(handle, library.call, library.problem)) return library;
  int version = 0;
  if (const nccl::Result result = library.call.GetVersion(&version); result != nccl::kSuccess)
    library.problem = std::string("ncclGetVersion: ") + library.call.GetErrorString(result);
  else if (version < nccl::kOldest)
    library.problem = "NCCL 2.18 or newer is needed, its version code is " + std::to_string(version);
  else
    library.version = version;
  return library;
}

}  // namespace

const NcclLibrary& nccl_library() {
  static const NcclLibrary instance = load();
  return instance;
}

}  // namespace hvd::dist
