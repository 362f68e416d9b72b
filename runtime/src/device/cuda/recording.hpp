// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/gpu_library.hpp"

#include <memory>

namespace hvd::backends::cuda {

/// Pieces are CUDA graphs, captured from the stream of the computations.
std::unique_ptr<GpuRecording> make_graphs();

}  // namespace hvd::backends::cuda
