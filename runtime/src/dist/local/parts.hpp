// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// A part of a buffer.
struct Part {
  std::size_t first = 0, count = 0;  // in elements
};

/// The part of `count` elements that rank `rank` of `size` reduces; parts begin at multiples of a cache line where they can.
Part part_of(std::size_t count, int rank, int size, DataType type);

}  // namespace hvd::dist
