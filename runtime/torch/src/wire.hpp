// SPDX-License-Identifier: Apache-2.0
#pragma once

// How tensors get into and out of the memory in which ranks exchange them.

#include <functional>
#include <memory>

#include <torch/types.h>

#include <hvd/dist/communicator.hpp>

namespace hvd::torch_binding {

/// The type a tensor travels in; half precision travels as float32. Error for types that no sum is formed of.
dist::DataType wire_type(const at::Tensor& t);
at::ScalarType scalar_type(dist::DataType type);  // float32 or float64

/// Host memory of so many bytes, all zero; page-locked where tensors of `device` are copied to and from it.
std::shared_ptr<char> host_memory(std::size_t bytes, c10::Device device);
/// A tensor over such memory, or over that of a GPU, which it keeps.
at::Tensor over(std::shared_ptr<char> memory, at::IntArrayRef sizes, dist::DataType type, c10::Device device = c10::Device(at::kCPU));

/// Copies `from`, sparse or dense, into `to`, a contiguous tensor of the same sizes on the host or on the device of `from`. From a device to the host
/// the copy is only begun; the function returned waits for it (empty: it is done, or on the stream of the device).
std::function<void()> copy_to_bucket(const at::Tensor& to, const at::Tensor& from);
/// The other way, sizes and strides as they are. From memory that is page-locked the copy is only begun.
void copy_from_bucket(const at::Tensor& to, const at::Tensor& from);

/// What has been begun on the current stream of `device` up to here; the function returned waits for it. Empty for the host.
std::function<void()> begun_on(c10::Device device);

}  // namespace hvd::torch_binding
