// SPDX-License-Identifier: Apache-2.0
#pragma once

// This rank's device.

#include <memory>
#include <string>
#include <utility>

#include <c10/core/Device.h>
#include <c10/util/Optional.h>

namespace hvd {

/// A GPU for this rank: its local rank modulo the number of GPUs seen (CUDA_VISIBLE_DEVICES respected), made current; a warning
/// once when ranks share one. Other devices, and any with one rank, as they are. Local.
c10::Device local_device(c10::Device device);
inline c10::Device local_device(c10::DeviceType type) { return local_device(c10::Device(type)); }
inline c10::Device local_device(c10::DeviceType type, int index) { return local_device(c10::Device(type, static_cast<c10::DeviceIndex>(index))); }
inline c10::Device local_device(const std::string& name) { return local_device(c10::Device(name)); }
inline c10::Device local_device(const char* name) { return local_device(c10::Device(std::string(name))); }
/// What holds a device, if it holds one: the same holder, with this rank's device in it. Local.
template <class Device>
std::shared_ptr<Device> local_device(std::shared_ptr<Device> device) {
  if (device) *device = local_device(*device);
  return device;
}
template <class Device, class Deleter>
std::unique_ptr<Device, Deleter> local_device(std::unique_ptr<Device, Deleter> device) {
  if (device) *device = local_device(*device);
  return device;
}
template <class Device>
c10::optional<Device> local_device(c10::optional<Device> device) {
  if (device) device = local_device(*device);
  return device;
}
/// Makes this rank's GPU the current one: what the program puts on "a GPU" goes there. Nothing without a GPU, and with one rank. Local.
void bind_device();

}  // namespace hvd
