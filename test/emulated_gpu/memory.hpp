// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/caching_allocator.hpp"

namespace emulated {

/// Memory that the host cannot address but while a kernel or a copy runs (a HostRun lives): who reads a tensor of the device
/// through its pointer ends with a segmentation fault, as with a GPU.
class GuardedMemory final : public hvd::backends::RawMemory {
 public:
  explicit GuardedMemory(size_t bytes);
  ~GuardedMemory() override;
  void* get(size_t bytes) override;
  void give_back(void* address, size_t bytes) noexcept override;
  hvd::MemoryKind kind() const override { return hvd::MemoryKind::kDevice; }
  size_t free_bytes(size_t& total) const override;

 private:
  char* start_;
  size_t bytes_, taken_ = 0;
};

/// The device's memory can be addressed in between; calls nest.
void open_memory();
void close_memory();
class OpenMemory {
 public:
  OpenMemory() { open_memory(); }
  ~OpenMemory() { close_memory(); }
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

/// Whether all of it has been handed out.
bool is_device_memory(const void* data, size_t bytes);

}  // namespace emulated
