// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/caching_allocator.hpp"
#include "device/gpu_library.hpp"

#include <memory>

namespace emulated {

/// Pieces are lists of what "kernels" would do, with their arguments as they were when they were noted; their memory is of `allocator`.
std::unique_ptr<hvd::backends::GpuRecording> make_recording(hvd::backends::CachingAllocator& allocator);

}  // namespace emulated
