// SPDX-License-Identifier: Apache-2.0
//
// Loops over strided operands: dimensions that lie one behind the other in all operands are joined, then the innermost
// one runs in a tight loop.
#pragma once

#include "device/device.hpp"

#include <array>

namespace hvd::backends {

template <int N>
struct JoinedLoop {
  int dims = 0;
  int64_t size[kMaxDims] = {};
  std::array<std::array<int64_t, kMaxDims>, N> stride = {};
};

template <int N>
JoinedLoop<N> join(const Extents& extents, const std::array<const Operand*, N>& operands) {
  JoinedLoop<N> loop;
  for (int d = 0; d < extents.dims; ++d) {
    if (extents.size[d] == 1) continue;
    bool joins = loop.dims > 0;
    for (int i = 0; i < N && joins; ++i) joins = loop.stride[i][loop.dims - 1] == operands[i]->stride[d] * extents.size[d];
    if (!joins) ++loop.dims;
    const int at = loop.dims - 1;
    loop.size[at] = joins ? loop.size[at] * extents.size[d] : extents.size[d];
    for (int i = 0; i < N; ++i) loop.stride[i][at] = operands[i]->stride[d];
  }
  if (loop.dims == 0) {
    loop.dims = 1;
    loop.size[0] = 1;
    for (int d = 0; d < extents.dims; ++d)
      if (extents.size[d] == 0) loop.size[0] = 0;
  }
  return loop;
}

/// Calls inner(offsets, n, strides) for every run of the innermost joined dimension.
template <int N, class Inner>
void for_each_run(const Extents& extents, const std::array<const Operand*, N>& operands, Inner&& inner) {
  for (int d = 0; d < extents.dims; ++d)
    if (extents.size[d] == 0) return;
  const JoinedLoop<N> loop = join<N>(extents, operands);
  const int last = loop.dims - 1;
  std::array<int64_t, N> offset = {}, step = {};
  for (int i = 0; i < N; ++i) step[i] = loop.stride[i][last];
  int64_t counter[kMaxDims] = {};
  for (;;) {
    inner(offset, loop.size[last], step);
    int d = last - 1;
    for (; d >= 0; --d) {
      for (int i = 0; i < N; ++i) offset[i] += loop.stride[i][d];
      if (++counter[d] < loop.size[d]) break;
      for (int i = 0; i < N; ++i) offset[i] -= loop.stride[i][d] * loop.size[d];
      counter[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace hvd::backends
