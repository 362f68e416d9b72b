// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nccl.hpp"

#include <dlfcn.h>

#include <cstdlib>

#ifdef HVD_HAVE_NCCL
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "dist/nccl/nccl.hpp"

// The engine has declarations of its own (dist/nccl/nccl.hpp): are they NCCL's? A header that is older than what they are of tells nothing.
#if NCCL_VERSION_CODE >= 21800
namespace {

namespace own = hvd::dist::nccl;

static_assert(own::kSuccess == ncclSuccess && own::kInvalidArgument == ncclInvalidArgument && own::kInvalidUsage == ncclInvalidUsage &&
              own::kRemoteError == ncclRemoteError && own::kInProgress == ncclInProgress);
static_assert(own::kUint8 == ncclUint8 && own::kInt32 == ncclInt32 && own::kInt64 == ncclInt64 && own::kUint64 == ncclUint64 &&
              own::kFloat32 == ncclFloat32 && own::kFloat64 == ncclFloat64);
static_assert(own::kSum == ncclSum && own::kMax == ncclMax && own::kMin == ncclMin);
static_assert(sizeof(own::UniqueId) == sizeof(ncclUniqueId) && sizeof(ncclResult_t) == sizeof(own::Result) &&
              sizeof(ncclDataType_t) == sizeof(own::Type) && sizeof(ncclRedOp_t) == sizeof(own::Op));
static_assert(own::kOldest == NCCL_VERSION(2, 18, 0) && own::Config::kUndefined == NCCL_CONFIG_UNDEF_INT);
static_assert(offsetof(own::Config, magic) == offsetof(ncclConfig_t, magic) && offsetof(own::Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(own::Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(own::Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs) && offsetof(own::Config, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(own::Config, split_share) == offsetof(ncclConfig_t, splitShare));

// NCCL's type of each argument, in place of ours.
template <class T>
struct Theirs {
  using type = T;
};
template <>
struct Theirs<own::UniqueId> {
  using type = ncclUniqueId;
};
template <>
struct Theirs<own::UniqueId*> {
  using type = ncclUniqueId*;
};
template <>
struct Theirs<own::Config*> {
  using type = ncclConfig_t*;
};
// Handles, streams and numbers of types and operations are pointers and ints in ours: the same in a call, whatever their name.
template <class Own, class Their>
constexpr bool same_in_a_call() {
  using A = typename Theirs<Own>::type;
  if constexpr (std::is_same_v<A, Their>) return true;
  else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<Their>) return sizeof(A) == sizeof(Their);
  else return std::is_enum_v<Their> && std::is_integral_v<A> && sizeof(A) == sizeof(Their);
}
template <class OwnResult, class... Own, class TheirResult, class... Their>
constexpr bool same(OwnResult (*)(Own...), TheirResult (*)(Their...)) {
  if constexpr (sizeof...(Own) != sizeof...(Their)) return false;
  else return same_in_a_call<OwnResult, TheirResult>() && (same_in_a_call<Own, Their>() && ...);
}
#define HVD_SAME(name) static_assert(same(decltype(own::Functions::name){}, decltype(&nccl##name){}), "nccl" #name)
HVD_SAME(GetVersion);
HVD_SAME(GetUniqueId);
HVD_SAME(CommInitRankConfig);
HVD_SAME(CommFinalize);
HVD_SAME(CommDestroy);
HVD_SAME(CommAbort);
HVD_SAME(CommGetAsyncError);
HVD_SAME(GetErrorString);
HVD_SAME(GetLastError);
HVD_SAME(AllReduce);
HVD_SAME(Reduce);
HVD_SAME(Broadcast);
HVD_SAME(AllGather);
HVD_SAME(ReduceScatter);
HVD_SAME(GroupStart);
HVD_SAME(GroupEnd);

}  // namespace
#endif
#endif

namespace hvd::backends::cuda {

// Loaded, not linked: a machine without NCCL, or with one GPU only, needs none of its 200 MB. Where it lay when this was built is searched too.
void* load_nccl(std::string& why) {
  const char* const named = std::getenv("HVD_NCCL_LIBRARY");
  void* const library = dlopen(named && *named ? named : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) why = std::string("NCCL cannot be loaded: ") + dlerror();
  return library;
}

}  // namespace hvd::backends::cuda
