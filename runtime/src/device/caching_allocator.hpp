// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/allocator.hpp>
#include <hvd/device.hpp>

#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace hvd::backends {

/// Where a caching allocator has its memory from.
class RawMemory {
 public:
  virtual ~RawMemory() = default;
  /// Null when there is none.
  virtual void* get(size_t bytes) = 0;
  /// Waits for the device's work on the block.
  virtual void give_back(void* address, size_t bytes) noexcept = 0;
  virtual MemoryKind kind() const = 0;
  /// Bytes that could still be had; `total`: of all.
  virtual size_t free_bytes(size_t& total) const = 0;
};

/// Blocks that work which is noted once and run often keeps for itself (CachingAllocator::record_into).
struct RecordedMemory {
  std::map<size_t, std::vector<void*>> free;  // by size of block
  std::map<const char*, size_t> blocks;  // all of them, and their sizes
  bool owns(const void* address) const;
};

/// Keeps what is released for the next one who asks: asking a driver for memory waits for the device, and takes far longer than a
/// kernel. Blocks come in four sizes to a doubling, so that batches of about the same size share them. A block may be handed on while the
/// device still works on it, because its next user's work comes later in the one stream of the device. What is kept goes back to
/// the driver when it has no more to give.
class CachingAllocator final : public Allocator {
 public:
  /// `raw` outlives this object; what is still in use then is not given back.
  explicit CachingAllocator(RawMemory& raw) : raw_(raw) {}
  ~CachingAllocator() override;
  /// Throws hvd::Error that says what was asked for, used, kept and free.
  void* allocate(size_t bytes) override;
  void release(void* address, size_t bytes) noexcept override;
  MemoryKind kind() const override { return raw_.kind(); }

  DeviceMemoryUse use() const;
  void reset_peak();
  /// Gives all that is kept back.
  void trim();

  /// What the calling thread allocates from now on belongs to `memory`, and what of that is released is for it alone; null: no longer.
  void record_into(RecordedMemory* memory);
  /// The blocks of `memory` are for everybody again; those that are in use still when they are released.
  void dissolve(RecordedMemory& memory) noexcept;

  /// The size of the block that `bytes` get.
  static size_t block_size(size_t bytes);

 private:
  void* take_kept(size_t size);
  void* take_recorded(size_t size);
  void trim_locked() noexcept;
  [[noreturn]] void refuse(size_t bytes) const;

  RawMemory& raw_;
  mutable std::mutex mutex_;
  std::map<size_t, std::vector<void*>> kept_;  // by size of block
  RecordedMemory* recording_ = nullptr;  // of the thread
  std::thread::id recorder_;
  std::unordered_map<const void*, RecordedMemory*> recorded_;
  DeviceMemoryUse use_;
};

}  // namespace hvd::backends
