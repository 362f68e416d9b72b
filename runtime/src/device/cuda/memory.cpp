// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/memory.hpp"

#include "device/cuda/check.hpp"

#include <hvd/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace hvd::backends::cuda {

namespace {

class CudaMemory final : public RawMemory {
 public:
  explicit CudaMemory(MemoryKind kind) : kind_(kind) {}

  void* get(size_t bytes) override {
    stream();  // binds this thread to its GPU
    void* address = nullptr;
    cudaError_t status = cudaErrorMemoryAllocation;
    switch (kind_) {
      case MemoryKind::kPinned: status = cudaMallocHost(&address, bytes); break;
      case MemoryKind::kManaged: status = get_managed(&address, bytes); break;
      default: status = cudaMalloc(&address, bytes); break;
    }
    if (status == cudaSuccess) return address;
    cudaGetLastError();
    if (status != cudaErrorMemoryAllocation) check(status, call());
    return nullptr;
  }

  void give_back(void* address, size_t) noexcept override {
    cudaStreamSynchronize(stream());
    if (kind_ == MemoryKind::kPinned)
      cudaFreeHost(address);
    else
      cudaFree(address);
    cudaGetLastError();
  }

  MemoryKind kind() const override { return kind_; }

  size_t free_bytes(size_t& total) const override {
    size_t left = 0;
    HVD_CUDA(cudaMemGetInfo(&left, &total));
    return left;
  }

 private:
  const char* call() const {
    if (kind_ == MemoryKind::kPinned) return "cudaMallocHost";
    return kind_ == MemoryKind::kManaged ? "cudaMallocManaged" : "cudaMalloc";
  }
  /// No more than the card has free: asking for more can hang it.
  static cudaError_t get_managed(void** address, size_t bytes) {
    size_t left = 0, total = 0;
    if (const cudaError_t status = cudaMemGetInfo(&left, &total); status != cudaSuccess) return status;
    return bytes > left ? cudaErrorMemoryAllocation : cudaMallocManaged(address, bytes, cudaMemAttachGlobal);
  }

  MemoryKind kind_;
};

struct Kind {
  CudaMemory raw;
  CachingAllocator allocator;
  explicit Kind(MemoryKind kind) : raw(kind), allocator(raw) {}
};

/// Locked memory through which pageable memory of the host is copied: two halves, one filled while the other is under way. Small buffers
/// (factors, spans, indices) go through a ring of slots, so that the host runs ahead of the device by as many of them.
class Staging {
 public:
  static constexpr size_t kHalf = size_t{4} << 20, kSlot = size_t{16} << 10;
  static constexpr int kSlots = 256;

  void to_device(char* buffer, const char* host, size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    if (bytes <= kSlot) return send_slot(slots_[next_slot_++ % kSlots], buffer, host, bytes);
    for (size_t at = 0; at < bytes; at += kHalf) {
      Half& half = halves_[turn_ ^= 1];
      const size_t part = std::min(kHalf, bytes - at);
      HVD_CUDA(cudaEventSynchronize(half.done));
      std::memcpy(half.data, host + at, part);
      HVD_CUDA(cudaMemcpyAsync(buffer + at, half.data, part, cudaMemcpyDefault, stream()));
      HVD_CUDA(cudaEventRecord(half.done, stream()));
    }
  }

  void to_host(char* host, const char* buffer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    size_t waiting = 0, start = 0;  // bytes of the copy under way, and where they go
    Half* under_way = nullptr;
    const auto take = [&] {
      if (!under_way) return;
      HVD_CUDA(cudaEventSynchronize(under_way->done));
      std::memcpy(host + start, under_way->data, waiting);
    };
    for (size_t at = 0; at < bytes; at += kHalf) {
      Half& half = halves_[turn_ ^= 1];
      const size_t part = std::min(kHalf, bytes - at);
      HVD_CUDA(cudaMemcpyAsync(half.data, buffer + at, part, cudaMemcpyDefault, stream()));
      HVD_CUDA(cudaEventRecord(half.done, stream()));
      take();
      under_way = &half;
      waiting = part;
      start = at;
    }
    take();
  }

 private:
  struct Half {
    void* data = nullptr;
    cudaEvent_t done = nullptr;
  };
  static void send_slot(const Half& slot, char* buffer, const char* host, size_t bytes) {
    HVD_CUDA(cudaEventSynchronize(slot.done));
    std::memcpy(slot.data, host, bytes);
    HVD_CUDA(cudaMemcpyAsync(buffer, slot.data, bytes, cudaMemcpyDefault, stream()));
    HVD_CUDA(cudaEventRecord(slot.done, stream()));
  }
  void prepare() {
    stream();
    if (ready_) return;
    char* ring = nullptr;
    HVD_CUDA(cudaMallocHost(&ring, kSlot * kSlots));
    for (int i = 0; i < kSlots; ++i) {
      slots_[i].data = ring + static_cast<size_t>(i) * kSlot;
      HVD_CUDA(cudaEventCreateWithFlags(&slots_[i].done, cudaEventDisableTiming));
    }
    for (Half& half : halves_) {
      HVD_CUDA(cudaMallocHost(&half.data, kHalf));
      HVD_CUDA(cudaEventCreateWithFlags(&half.done, cudaEventDisableTiming));
    }
    ready_ = true;
  }

  std::mutex mutex_;
  Half halves_[2], slots_[kSlots];
  int turn_ = 0;
  unsigned next_slot_ = 0;
  bool ready_ = false;
};

Staging& staging() {
  static auto* const instance = new Staging;  // CUDA is gone before the process ends
  return *instance;
}

}  // namespace

CachingAllocator& memory_of(MemoryKind kind) {
  // Never destroyed: tensors may outlive everything.
  static auto* const pinned = new Kind(MemoryKind::kPinned);
  static auto* const managed = new Kind(MemoryKind::kManaged);
  static auto* const device = new Kind(MemoryKind::kDevice);
  switch (kind) {
    case MemoryKind::kPinned: return pinned->allocator;
    case MemoryKind::kManaged: return managed->allocator;
    case MemoryKind::kDevice: return device->allocator;
    case MemoryKind::kMalloc: break;
  }
  throw Error("tensors of CUDA devices lie in 'device', 'pinned' or 'managed' memory, not in 'malloc'");
}

void copy_to_host(void* host, const void* buffer, size_t bytes) {
  if (bytes > 0) staging().to_host(static_cast<char*>(host), static_cast<const char*>(buffer), bytes);
}
void copy_to_device(void* buffer, const void* host, size_t bytes) {
  if (bytes > 0) staging().to_device(static_cast<char*>(buffer), static_cast<const char*>(host), bytes);
}

}  // namespace hvd::backends::cuda
