// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// A part of a buffer.
struct Part {
  std::size_t first = 0, count = 0;  // in elements
};

/// The part of `count` elements that rank `rank` of `size` reduces; parts begin at multiples of a cache line where they can.
Part part_of(std::size_t count, int rank, int size, DataType type);

/// to[0..count) = from[0] op from[1] op ..., in this order. `to` may be one of `from`.
void combine_all(char* to, const std::vector<const char*>& from, std::size_t count, DataType type, ReduceOp op);

/// The same into every one of the buffers themselves: all[i] = all[0] op all[1] op ....
void combine_everywhere(const std::vector<char*>& all, std::size_t count, DataType type, ReduceOp op);

}  // namespace hvd::dist
