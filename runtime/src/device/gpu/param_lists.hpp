// SPDX-License-Identifier: Apache-2.0
//
// One kernel over many parameters: a network has dozens to hundreds, most of them small, and a launch takes longer than the update of such a one.
// The addresses travel in the kernel's own arguments (4 KB at most), so that no list has to be copied to the device first.
#pragma once

#include "device/gpu/support.hpp"

#include <vector>

namespace hvd::backends::gpu {

/// Elements that one block takes.
inline constexpr int64_t kPiece = 2048;

/// The buffers of one parameter, as an update sees them.
template <class T>
struct ParamOf {
  const T* grad;
  T* kept[3];
  T* param;
};

/// Some parameters, cut into pieces of kPiece elements; the pieces of parameter k end before number last[k].
template <class T>
struct ParamList {
  static constexpr int kMost = 64;
  int count = 0;
  ParamOf<T> buffers[kMost];
  int64_t n[kMost];
  int64_t last[kMost];

  /// The parameter that a piece belongs to.
  HVD_HD int owner(int64_t piece) const {
    int low = 0, high = count - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (piece < last[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

/// One launch.
template <class T, class Update>
void update_list(const char* name, int64_t pieces, const ParamList<T>& params, const Update& update) {
  static_assert(sizeof params + sizeof update + 64 <= 4096, "the arguments of a kernel");
  const ParamList<T> list = params;
  const Update each = update;
  for_teams(name, pieces, [=] HVD_KERNEL(int64_t piece, const Team& team) {
    const int k = list.owner(piece);
    const int64_t first = (piece - (k > 0 ? list.last[k - 1] : 0)) * kPiece, rest = list.n[k] - first;
    const ParamOf<T> buffers = list.buffers[k];
    team.each(rest < kPiece ? rest : kPiece, [&](int64_t i) { each(buffers, first + i); });
  });
}

/// update(buffers, i) for every element i of every parameter.
template <class T, class Update>
void update_all(const char* name, const std::vector<ParamBuffers>& params, const Update& update) {
  const auto typed = [](void* buffer) { return static_cast<T*>(buffer); };
  ParamList<T> list;
  int64_t pieces = 0;
  for (const ParamBuffers& p : params) {
    if (p.n == 0) continue;
    if (list.count == ParamList<T>::kMost) {
      update_list(name, pieces, list, update);
      list.count = 0;
      pieces = 0;
    }
    const int k = list.count++;
    pieces += (p.n + kPiece - 1) / kPiece;
    list.buffers[k] = {static_cast<const T*>(p.grad), {typed(p.kept[0]), typed(p.kept[1]), typed(p.kept[2])}, typed(p.param)};
    list.n[k] = p.n;
    list.last[k] = pieces;
  }
  if (list.count > 0) update_list(name, pieces, list, update);
}

}  // namespace hvd::backends::gpu
