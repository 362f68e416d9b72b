// SPDX-License-Identifier: Apache-2.0
#include "device/caching_allocator.hpp"

#include <hvd/core/error.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace hvd::backends {

namespace {

constexpr size_t kSmallest = 512;

std::string in_bytes(size_t n) {
  if (n < size_t{1} << 20) return std::to_string(n) + " bytes";
  return std::to_string(n >> 20) + " MiB";
}

}  // namespace

// The next multiple of a quarter of the power of two below.
size_t CachingAllocator::block_size(size_t bytes) {
  if (bytes <= kSmallest) return kSmallest;
  const size_t step = std::max(kSmallest, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}

CachingAllocator::~CachingAllocator() { trim_locked(); }

void* CachingAllocator::take_kept(size_t size) {
  const auto found = kept_.find(size);
  if (found == kept_.end() || found->second.empty()) return nullptr;
  void* address = found->second.back();
  found->second.pop_back();
  use_.cached -= size;
  return address;
}

bool RecordedMemory::owns(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  auto block = blocks.upper_bound(at);
  return block != blocks.begin() && (--block, at < block->first + block->second);
}

void* CachingAllocator::take_recorded(size_t size) {
  if (!recording_ || recorder_ != std::this_thread::get_id()) return nullptr;
  std::vector<void*>& free = recording_->free[size];
  if (free.empty()) return nullptr;
  void* address = free.back();
  free.pop_back();
  use_.cached -= size;
  return address;
}

void* CachingAllocator::allocate(size_t bytes) {
  const size_t size = block_size(bytes);
  const std::lock_guard lock(mutex_);
  void* address = size < bytes ? nullptr : take_recorded(size);
  if (!address && size >= bytes) {
    address = take_kept(size);
    if (!address) address = raw_.get(size);
    if (!address) {
      trim_locked();
      address = raw_.get(size);
    }
    if (address && recording_ && recorder_ == std::this_thread::get_id()) {
      recording_->blocks.emplace(static_cast<const char*>(address), size);
      recorded_.emplace(address, recording_);
    }
  }
  if (!address) refuse(bytes);
  use_.used += size;
  use_.peak = std::max(use_.peak, use_.used);
  return address;
}

void CachingAllocator::release(void* address, size_t bytes) noexcept {
  const size_t size = block_size(bytes);
  const std::lock_guard lock(mutex_);
  use_.used -= size;
  try {
    const auto owner = recorded_.find(address);
    (owner == recorded_.end() ? kept_ : owner->second->free)[size].push_back(address);
    use_.cached += size;
  } catch (...) {  // no memory on the host for the list
    raw_.give_back(address, size);
  }
}

void CachingAllocator::record_into(RecordedMemory* memory) {
  const std::lock_guard lock(mutex_);
  if (memory && recording_) throw Error("work of the GPU is being noted on another thread");
  recording_ = memory;
  recorder_ = std::this_thread::get_id();
}

void CachingAllocator::dissolve(RecordedMemory& memory) noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, size] : memory.blocks) recorded_.erase(address);
  for (const auto& [size, free] : memory.free)
    for (void* address : free) {
      try {
        kept_[size].push_back(address);
      } catch (...) {  // no memory on the host for the list
        raw_.give_back(address, size);
        use_.cached -= size;
      }
    }
  memory = {};
}

DeviceMemoryUse CachingAllocator::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  use_.peak = use_.used;
}

void CachingAllocator::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void CachingAllocator::trim_locked() noexcept {
  for (auto& [size, blocks] : kept_)
    for (void* address : blocks) raw_.give_back(address, size);
  kept_.clear();
  use_.cached = 0;
}

void CachingAllocator::refuse(size_t bytes) const {
  size_t total = 0;
  const size_t left = raw_.free_bytes(total);
  throw Error("out of " + std::string(memory_kind_name(raw_.kind())) + " memory: " + in_bytes(bytes) + " asked for, " + in_bytes(use_.used) +
              " used by tensors, " + in_bytes(left) + " of " + in_bytes(total) + " free");
}

}  // namespace hvd::backends
