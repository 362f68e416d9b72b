// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

namespace emulated_torch {

/// A tensor of the GPU as one of the host over the same memory; others as they are.
at::Tensor host_view(const at::Tensor& t);
/// What an operation on such views gave, as a tensor of the GPU: a view of `sources` where it lies in their memory, else a copy.
at::Tensor device_result(const at::Tensor& result, at::ArrayRef<at::Tensor> sources, c10::Device device);
/// A tensor of the GPU after its view has been written, and perhaps resized.
void take_over(const at::Tensor& t, const at::Tensor& view);

}  // namespace emulated_torch
