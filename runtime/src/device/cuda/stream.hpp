// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/gpu_library.hpp"

#include <memory>

namespace hvd::backends::cuda {

/// A stream of the highest priority.
std::unique_ptr<GpuStream> make_side_stream();
/// See GpuLibrary::pin.
std::shared_ptr<void> pin_memory(void* memory, size_t bytes);
/// An event (cudaEvent_t) at the end of what the stream of computations has been given so far.
std::shared_ptr<void> note_stream();

}  // namespace hvd::backends::cuda
