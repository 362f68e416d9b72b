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

}  // namespace emulated
