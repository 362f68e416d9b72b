// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hvd::dist {

/// memcpy for large blocks between buffers of different kinds, whatever their alignment to each other. In pieces, because from a few KiB on the C
/// library may copy by `rep movsb`, which on some processors falls to a quarter of its speed where the target begins a little behind the source
/// within a page, as a window and a buffer of malloc's do (glibc bug 30994).
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kPiece = 2048;
  for (std::size_t done = 0; done < bytes; done += kPiece)
    std::memcpy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done, std::min(kPiece, bytes - done));
}

}  // namespace hvd::dist
