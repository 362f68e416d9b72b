// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"

#include <algorithm>

namespace hvd::dist {

Part part_of(std::size_t count, int rank, int size, DataType type) {
  const std::size_t grain = 64 / size_of(type), grains = (count + grain - 1) / grain;
  const auto first = [&](int r) {
    return std::min(count, grains * static_cast<std::size_t>(r) / static_cast<std::size_t>(size) * grain);
  };
  return {first(rank), first(rank + 1) - first(rank)};
}

}  // namespace hvd::dist
