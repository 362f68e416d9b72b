// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// into[i] = into[i] op from[i], for i < count.
void combine(void* into, const void* from, std::size_t count, DataType type, ReduceOp op);

}  // namespace hvd::dist
