// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/caching_allocator.hpp"

namespace hvd::backends::cuda {

/// The allocator of a kind of CUDA's memory.
CachingAllocator& memory_of(MemoryKind kind);

/// Copies in the order of the stream. `to_host` waits for the bytes; `to_device` returns when `host` may be changed.
void copy_to_host(void* host, const void* buffer, size_t bytes);
void copy_to_device(void* buffer, const void* host, size_t bytes);

}  // namespace hvd::backends::cuda
