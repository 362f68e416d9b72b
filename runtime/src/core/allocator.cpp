// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_library.hpp"

#include <hvd/core/allocator.hpp>
#include <hvd/core/error.hpp>

#include <malloc.h>

#include <cstdlib>
#include <iterator>
#include <string>

namespace hvd {

namespace {

class MallocAllocator final : public Allocator {
 public:
  // Every step frees and asks for the same large buffers. By default malloc gives them back to the kernel in between, and
  // the page faults cost a fifth of a small network's step.
  MallocAllocator() {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
#endif
  }
  void* allocate(size_t bytes) override {
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* address = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded ? rounded : kAlignment);
    if (!address) throw Error("out of memory: " + std::to_string(bytes) + " bytes asked for");
    return address;
  }
  void release(void* address, size_t) noexcept override { std::free(address); }
  MemoryKind kind() const override { return MemoryKind::kMalloc; }
};

}  // namespace

namespace {

constexpr const char* kKindNames[] = {"malloc", "pinned", "managed", "device"};  // in the order of MemoryKind

}  // namespace

const char* memory_kind_name(MemoryKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

MemoryKind memory_kind(const std::string& name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i)
    if (name == kKindNames[i]) return static_cast<MemoryKind>(i);
  throw Error("unknown kind of memory '" + name + "': 'malloc', 'pinned', 'managed' or 'device' expected");
}

Allocator& allocator(MemoryKind kind) {
  static MallocAllocator malloc_allocator;
  return kind == MemoryKind::kMalloc ? malloc_allocator : backends::require_gpu().allocator(kind);
}

Storage::Storage(size_t bytes, Allocator& source) : data_(source.allocate(bytes)), bytes_(bytes), source_(&source) {}
Storage::Storage(void* data, size_t bytes, std::shared_ptr<void> owner)
    : data_(data), bytes_(bytes), source_(nullptr), owner_(std::move(owner)) {}
Storage::~Storage() {
  if (source_) source_->release(data_, bytes_);
}

}  // namespace hvd
