// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/allocator.hpp>
#include <hvd/core/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hvd {

/// Whether the device can be used: this build has it and, for `cublas` and `cudnn`, there is a GPU.
bool is_available(Device device);
/// The devices that can be used; the default one first.
std::vector<Device> available_devices();
/// Why a device cannot be used, "no CUDA device" for example; empty when it can.
std::string device_problem(Device device);

/// Of the GPU: name, memory, versions of driver and libraries, in one line; why there is none where there is none.
std::string describe_gpu();

/// Bytes of GPU memory that tensors of this process hold, the most they held, and what is kept for the next ones.
struct DeviceMemoryUse {
  size_t used = 0, peak = 0, cached = 0;
};
/// Of CUDA devices and one kind of memory; all zero where there is no device.
DeviceMemoryUse device_memory_use(MemoryKind kind = MemoryKind::kDevice);
void reset_peak_device_memory();
/// How often the host has waited for numbers of the GPU: `item()`, copies to the host, and operations that need a number there. Between two
/// such waits the host runs ahead of the device.
uint64_t device_waits();
/// Waits for what was asked of the GPU; nothing to do on other devices.
void synchronize();

}  // namespace hvd
