// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring elements that a thread takes together: 16 bytes at a time keep the memory of a GPU busy, single elements of 2 or 4 bytes do not.
#pragma once

#include "device/gpu/parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hvd::backends::gpu {

template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T at[N];
};

/// Elements of a pack where these types are read and written beside each other: the narrowest fills 16 bytes, at most 8.
template <class... Ts>
constexpr int pack_of() {
  size_t least = 16;
  ((least = sizeof(Ts) < least ? sizeof(Ts) : least), ...);
  return static_cast<int>(16 / least < 8 ? 16 / least : 8);
}

/// Whether packs of N elements lie where the GPU can move them in one piece, counted from this address.
template <int N, class T>
bool packs_lie(const T* data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(Pack<T, N>) == 0;
}

/// `whole`: of packs_lie().
template <int N, class T>
HVD_HD Pack<T, N> load_pack(const T* data, bool whole) {
  if (whole) return *reinterpret_cast<const Pack<T, N>*>(data);
  Pack<T, N> pack;
  for (int k = 0; k < N; ++k) pack.at[k] = data[k];
  return pack;
}
template <int N, class T>
HVD_HD void store_pack(T* data, const Pack<T, N>& pack, bool whole) {
  if (whole) {
    *reinterpret_cast<Pack<T, N>*>(data) = pack;
    return;
  }
  for (int k = 0; k < N; ++k) data[k] = pack.at[k];
}

template <int N>
using Count = std::integral_constant<int, N>;

/// f(Count<N>): how many neighbours a thread takes of rows of this length, all of them or one. By the length alone, since sums depend on it.
template <class T, class F>
void with_packs(int64_t length, F f) {
  constexpr int N = pack_of<T>();
  length % N == 0 ? f(Count<N>()) : f(Count<1>());
}

/// f(i, Count<N>) for the packs of N elements that begin at i, and f(i, Count<1>) for each element of the rest; without `whole` the latter for all.
template <int N, class F>
void for_packs(const char* name, int64_t n, bool whole, F f) {
  const int64_t packs = whole ? n / N : 0, rest = packs * (N - 1);
  for_each(name, n - rest, [=] HVD_KERNEL(int64_t i) {
    if (i < packs)
      f(i * N, Count<N>());
    else
      f(i + rest, Count<1>());
  });
}

}  // namespace hvd::backends::gpu
