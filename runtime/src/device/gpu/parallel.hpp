// SPDX-License-Identifier: Apache-2.0
//
// The two forms of a kernel. Compiled by nvcc they run on the GPU; compiled by a C++ compiler the same functions run on the host, with
// the same order of every sum: so the tests prove indices, orders and formulas without a GPU (test/emulated_gpu).
//
//   for_each(name, n, f)        f(i) for i < n, one thread each
//   for_teams(name, n, f)       f(i, team) for i < n, a block of threads each, which reduces together
//   for_tiles<Tile>(name, n, load, store)   for i < n a block of threads, each of which calls load(i, thread, tile) and, when all have,
//                               store(i, thread, tile); the tile lies in the block's own memory
#pragma once

#include "device/host_device.hpp"

#include <cstdint>

#ifdef __CUDACC__
#include "device/cuda/check.hpp"
#define HVD_KERNEL __device__
// Several loads at a time are under way.
#define HVD_UNROLL _Pragma("unroll 4")
#else
#include "device/gpu/host_run.hpp"
#define HVD_KERNEL
#define HVD_UNROLL
#endif

namespace hvd::backends::gpu {

/// Threads of a block. Fixed, and with it the order of every sum, on every GPU.
inline constexpr int kTeam = 256;
/// Threads that run together.
inline constexpr int kWarp = 32;

/// The values of a block's warps, combined by halves.
template <class V, class Combine>
HVD_HD V fold_warps(const V* warps, Combine combine) {
  static_assert(kTeam / kWarp == 8, "three halves");
  const V first = combine(combine(warps[0], warps[4]), combine(warps[2], warps[6]));
  const V second = combine(combine(warps[1], warps[5]), combine(warps[3], warps[7]));
  return combine(first, second);
}

#ifdef __CUDACC__

/// The value of the thread of this warp that comes `down` behind this one.
template <class V>
__device__ V shifted(const V& value, int down) {
  static_assert(sizeof(V) % sizeof(unsigned) == 0, "values travel in words");
  V other = value;
  unsigned* const words = reinterpret_cast<unsigned*>(&other);
  for (size_t k = 0; k < sizeof(V) / sizeof(unsigned); ++k) words[k] = __shfl_down_sync(0xffffffffu, words[k], down);
  return other;
}

/// The block that works on one index of for_teams. All its threads run the function given to for_teams and must come by each reduce.
class Team {
 public:
  /// load(first) combined with load(first + 1), ... up to `last`: each thread takes every 256th, then the threads of a warp are folded together by
  /// halves, then the warps. All threads get the result. `combine` is associative and commutative up to rounding.
  template <class V, class Load, class Combine>
  __device__ V reduce(int64_t first, int64_t last, V identity, Load load, Combine combine) const {
    __shared__ V warps[kTeam / kWarp];
    V value = identity;
    HVD_UNROLL
    for (int64_t j = first + threadIdx.x; j < last; j += kTeam) value = combine(value, load(j));
    for (int half = kWarp / 2; half > 0; half /= 2) value = combine(value, shifted(value, half));
    __syncthreads();  // what the reduction before left has been read, and what was written is visible
    if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
    __syncthreads();
    return fold_warps(warps, combine);
  }
  /// f(j) for j < n.
  template <class F>
  __device__ void each(int64_t n, F f) const {
    for (int64_t j = threadIdx.x; j < n; j += kTeam) f(j);
  }
  /// f() by one thread.
  template <class F>
  __device__ void once(F f) const {
    if (threadIdx.x == 0) f();
  }
};

template <class F>
__global__ void __launch_bounds__(kTeam) run_each(int64_t n, F f) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}
template <class F>
__global__ void __launch_bounds__(kTeam) run_teams(int64_t n, F f) {
  const Team team;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) f(i, team);
}

template <class Tile, class Load, class Store>
__global__ void __launch_bounds__(kTeam) run_tiles(int64_t n, Load load, Store store) {
  __shared__ Tile tile;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    load(i, static_cast<int>(threadIdx.x), tile);
    __syncthreads();
    store(i, static_cast<int>(threadIdx.x), tile);
    __syncthreads();  // the tile has been read
  }
}

inline constexpr int64_t kMostBlocks = 1 << 20;

template <class F>
void for_each(const char* name, int64_t n, F f) {
  if (n <= 0) return;
  const int64_t blocks = (n + kTeam - 1) / kTeam;
  run_each<<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kTeam, 0, cuda::stream()>>>(n, f);
  cuda::check_launch(name);
}
template <class F>
void for_teams(const char* name, int64_t n, F f) {
  if (n <= 0) return;
  run_teams<<<static_cast<unsigned>(n < kMostBlocks ? n : kMostBlocks), kTeam, 0, cuda::stream()>>>(n, f);
  cuda::check_launch(name);
}

template <class Tile, class Load, class Store>
void for_tiles(const char* name, int64_t n, Load load, Store store) {
  if (n <= 0) return;
  run_tiles<Tile><<<static_cast<unsigned>(n < kMostBlocks ? n : kMostBlocks), kTeam, 0, cuda::stream()>>>(n, load, store);
  cuda::check_launch(name);
}

/// y += x by one of several threads that may do so at once.
template <class T>
__device__ void add_at(T* y, T x) {
  atomicAdd(y, x);
}
/// Sets a word that is 0; false when another thread was first.
__device__ inline bool claim(unsigned long long* word, uint64_t value) { return atomicCAS(word, 0ull, static_cast<unsigned long long>(value)) == 0; }

#else

class Team {
 public:
  template <class V, class Load, class Combine>
  V reduce(int64_t first, int64_t last, V identity, Load load, Combine combine) const {
    V lane[kTeam], warps[kTeam / kWarp];
    for (int t = 0; t < kTeam; ++t) {
      lane[t] = identity;
      for (int64_t j = first + t; j < last; j += kTeam) lane[t] = combine(lane[t], load(j));
    }
    for (int w = 0; w < kTeam / kWarp; ++w) {
      V* const of = lane + w * kWarp;
      for (int half = kWarp / 2; half > 0; half /= 2)
        for (int t = 0; t < half; ++t) of[t] = combine(of[t], of[t + half]);
      warps[w] = of[0];
    }
    return fold_warps(warps, combine);
  }
  template <class F>
  void each(int64_t n, F f) const {
    for (int64_t j = 0; j < n; ++j) f(j);
  }
  template <class F>
  void once(F f) const {
    f();
  }
};

template <class F>
void for_each(const char*, int64_t n, F f) {
  run_on_host([=] {
    for (int64_t i = 0; i < n; ++i) f(i);
  });
}
template <class F>
void for_teams(const char*, int64_t n, F f) {
  run_on_host([=] {
    const Team team;
    for (int64_t i = 0; i < n; ++i) f(i, team);
  });
}

template <class Tile, class Load, class Store>
void for_tiles(const char*, int64_t n, Load load, Store store) {
  run_on_host([=] {
    for (int64_t i = 0; i < n; ++i) {
      Tile tile;
      for (int thread = 0; thread < kTeam; ++thread) load(i, thread, tile);
      for (int thread = 0; thread < kTeam; ++thread) store(i, thread, tile);
    }
  });
}

template <class T>
void add_at(T* y, T x) {
  *y += x;
}
inline bool claim(unsigned long long* word, uint64_t value) {
  if (*word != 0) return false;
  *word = value;
  return true;
}

#endif

}  // namespace hvd::backends::gpu
