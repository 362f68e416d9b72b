// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// into[i] = into[i] op from[i], for i < count.
void combine(void* into, const void* from, std::size_t count, DataType type, ReduceOp op);

/// to[i] = from[0][i] op from[1][i] op ..., in this order; numbers of 16 bits are added up in float32 and rounded once. `to` may be one of
/// `from`.
void combine_all(char* to, const std::vector<const char*>& from, std::size_t count, DataType type, ReduceOp op);
/// The same into every one of the buffers themselves.
void combine_everywhere(const std::vector<char*>& all, std::size_t count, DataType type, ReduceOp op);

}  // namespace hvd::dist
