// SPDX-License-Identifier: Apache-2.0
#pragma once

// Buckets on the GPU that LibTorch's gradients lie on, for NCCL or a CUDA-aware MPI.

#include <memory>
#include <vector>

#include <torch/types.h>

#include "dist/devices/bucket_memory.hpp"

namespace hvd::torch_binding {

/// Memory of LibTorch's allocator, filled on its current stream. Null unless all of `parameters` lie on the GPU that the runtime has chosen for
/// this rank.
std::unique_ptr<dist::BucketMemory> device_buckets(const std::vector<at::Tensor>& parameters);

}  // namespace hvd::torch_binding
