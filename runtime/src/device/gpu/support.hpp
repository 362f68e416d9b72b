// SPDX-License-Identifier: Apache-2.0
//
// What kernels share: strided elements, buffers for the time of an operation, reductions.
#pragma once

#include "device/cpu/dispatch.hpp"
#include "device/cpu/strided.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/packs.hpp"
#include "device/gpu/parallel.hpp"

#include <algorithm>
#include <vector>

namespace hvd::backends::gpu {

/// Quotient, in 32 bits where that is enough: division of 64-bit numbers takes many instructions on a GPU.
HVD_HD inline int64_t quotient(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

/// The type in which numbers stored as T are computed.
template <class T>
struct Computed {
  using type = float;
};
template <>
struct Computed<double> {
  using type = double;
};
template <>
struct Computed<int64_t> {
  using type = int64_t;
};
template <>
struct Computed<uint8_t> {
  using type = uint8_t;
};
template <class T>
using float_of = typename Computed<T>::type;

/// A loop over the elements of N strided operands, as kernels take it.
template <int N>
struct StridedLoop {
  int dims;
  int64_t size[kMaxDims], stride[N][kMaxDims], count;
};
template <int N>
struct Offsets {
  int64_t at[N];
};

template <int N>
StridedLoop<N> strided_loop(const Extents& extents, const std::array<const Operand*, N>& operands) {
  const JoinedLoop<N> joined = join<N>(extents, operands);
  StridedLoop<N> loop;
  loop.dims = joined.dims;
  loop.count = 1;
  for (int d = 0; d < extents.dims; ++d) loop.count *= extents.size[d];
  for (int d = 0; d < kMaxDims; ++d) {
    loop.size[d] = joined.size[d];
    for (int i = 0; i < N; ++i) loop.stride[i][d] = joined.stride[i][d];
  }
  return loop;
}

/// Whether the elements of all operands lie one behind the other.
template <int N>
bool is_dense(const StridedLoop<N>& loop) {
  bool dense = loop.dims <= 1;
  for (int k = 0; k < N; ++k) dense = dense && (loop.dims == 0 || loop.stride[k][0] == 1);
  return dense;
}

/// Where element i of the loop lies in each operand.
template <int N>
HVD_HD Offsets<N> locate(const StridedLoop<N>& loop, int64_t i) {
  Offsets<N> offsets;
  for (int k = 0; k < N; ++k) offsets.at[k] = 0;
  for (int d = loop.dims - 1; d > 0; --d) {
    const int64_t rest = quotient(i, loop.size[d]), entry = i - rest * loop.size[d];
    for (int k = 0; k < N; ++k) offsets.at[k] += entry * loop.stride[k][d];
    i = rest;
  }
  for (int k = 0; k < N; ++k) offsets.at[k] += i * loop.stride[k][0];
  return offsets;
}

/// Memory of the device for the time of an operation. Released before the kernels that use it have run: who gets it next comes after them
/// on the one stream of the device.
template <class T>
class Scratch {
 public:
  Scratch(const Backend& device, int64_t n)
      : source_(device.allocator()), bytes_(static_cast<size_t>(n > 0 ? n : 1) * sizeof(T)), data_(static_cast<T*>(source_.allocate(bytes_))) {}
  /// With these values.
  Scratch(const Backend& device, const T* values, int64_t n) : Scratch(device, n) {
    if (n > 0) device.from_host(data_, values, static_cast<size_t>(n) * sizeof(T));
  }
  ~Scratch() { source_.release(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  Allocator& source_;
  size_t bytes_;
  T* data_;
};

struct Sum {
  template <class V>
  HVD_HD V operator()(V a, V b) const {
    return a + b;
  }
};

/// Long reductions are cut into parts of at least this length, which blocks or threads take side by side. Depends on sizes alone.
inline constexpr int64_t kPart = 4096;
/// And into at most about so many: enough for all threads of a large GPU.
inline constexpr int64_t kBlocks = 2048, kThreads = 1 << 17;

/// store(s, value) for s < segments, `value` being load(s, 0), load(s, 1) ... load(s, length - 1) combined. `adjacent`: load(s, j) and
/// load(s + 1, j) lie side by side in memory, and one thread takes a segment, or a part of it; else a block does.
template <class V, class Load, class Combine, class Store>
void reduce(const Backend& device, const char* name, int64_t segments, int64_t length, bool adjacent, V identity, Load load, Combine combine,
            Store store) {
  if (segments <= 0) return;
  const int64_t part = adjacent ? 64 : kPart, wanted = adjacent ? kThreads : kBlocks;
  const int64_t parts = std::max<int64_t>(1, std::min((length + part - 1) / part, (wanted + segments - 1) / segments));
  const int64_t each = (length + parts - 1) / std::max<int64_t>(parts, 1);
  const Scratch<V> partial(device, parts > 1 ? parts * segments : 0);
  V* const at = partial.data();
  if (adjacent) {
    for_each(name, parts * segments, [=] HVD_KERNEL(int64_t i) {
      const int64_t p = quotient(i, segments), s = i - p * segments, last = (p + 1) * each < length ? (p + 1) * each : length;
      V value = identity;
      HVD_UNROLL
      for (int64_t j = p * each; j < last; ++j) value = combine(value, load(s, j));
      if (parts == 1)
        store(s, value);
      else
        at[i] = value;
    });
  } else {
    for_teams(name, parts * segments, [=] HVD_KERNEL(int64_t i, const Team& team) {
      const int64_t p = quotient(i, segments), s = i - p * segments, last = (p + 1) * each < length ? (p + 1) * each : length;
      const V value = team.reduce(p * each, last, identity, [=](int64_t j) { return load(s, j); }, combine);
      team.once([&] {
        if (parts == 1)
          store(s, value);
        else
          at[i] = value;
      });
    });
  }
  if (parts == 1) return;
  if (parts >= kWarp) {
    for_teams(name, segments, [=] HVD_KERNEL(int64_t s, const Team& team) {
      const V value = team.reduce(0, parts, identity, [=](int64_t p) { return at[p * segments + s]; }, combine);
      team.once([&] { store(s, value); });
    });
    return;
  }
  for_each(name, segments, [=] HVD_KERNEL(int64_t s) {
    V value = identity;
    HVD_UNROLL
    for (int64_t p = 0; p < parts; ++p) value = combine(value, at[p * segments + s]);
    store(s, value);
  });
}

/// Sums of N columns that lie side by side.
template <class V, int N>
struct SumsOf {
  V at[N];
};
struct AddSumsOf {
  template <class V, int N>
  HVD_HD SumsOf<V, N> operator()(SumsOf<V, N> a, const SumsOf<V, N>& b) const {
    for (int k = 0; k < N; ++k) a.at[k] += b.at[k];
    return a;
  }
};

/// Columns of [outer, length, inner], inner a multiple of N: a thread takes N of them. term(r, i, sums) adds what the elements i to i + N - 1, in row r of all
/// [outer length] rows, give to the sums of their columns.
template <class V, int N, class Term, class Out>
void sum_columns(const Backend& device, const char* name, int64_t outer, int64_t length, int64_t inner, Term term, Out* out) {
  const int64_t packs = inner / N;
  SumsOf<V, N> none{};
  reduce(
      device, name, outer * packs, length, true, none,
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const int64_t o = quotient(s, packs), row = o * length + j;
        SumsOf<V, N> sums{};
        term(row, row * inner + (s - o * packs) * N, sums);
        return sums;
      },
      AddSumsOf(),
      [=] HVD_KERNEL(int64_t s, const SumsOf<V, N>& total) {
        for (int k = 0; k < N; ++k) out[s * N + k] = static_cast<Out>(total.at[k]);
      });
}

/// One value of all, on the host; waits for it.
template <class V, class Load, class Combine>
V reduce_to_host(const Backend& device, const char* name, int64_t length, V identity, Load load, Combine combine) {
  const Scratch<V> result(device, 1);
  V* const at = result.data();
  reduce(
      device, name, 1, length, false, identity, [=] HVD_KERNEL(int64_t, int64_t j) { return load(j); }, combine,
      [=] HVD_KERNEL(int64_t, const V& value) { *at = value; });
  V value = identity;
  device.to_host(&value, at, sizeof value);
  return value;
}

}  // namespace hvd::backends::gpu
