// SPDX-License-Identifier: Apache-2.0
// Text in records that ranks share: arrays of fixed length, cut when too long.
#pragma once

#include <cstddef>

namespace hvd::dist {

/// Copies as much as fits, with a zero behind it; a null pointer is an empty text.
template <std::size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  std::size_t i = 0;
  for (; i + 1 < N && from && from[i]; ++i) to[i] = from[i];
  to[i] = '\0';
}

/// The name of a file without its folders; null stays null.
inline const char* base_name(const char* path) noexcept {
  const char* base = path;
  for (const char* p = path; p && *p; ++p)
    if (*p == '/') base = p + 1;
  return base;
}

}  // namespace hvd::dist
