// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace hvd {

/// What sort of memory a buffer is. Those of CUDA devices: `kPinned` lies on the host, locked, and the device reads and writes it over the
/// bus (cudaMallocHost); `kManaged` moves between host and device by itself (cudaMallocManaged); `kDevice` lies on the device and the host
/// cannot address it (cudaMalloc).
enum class MemoryKind : uint8_t { kMalloc, kPinned, kManaged, kDevice };
/// "malloc", "pinned", "managed", "device".
const char* memory_kind_name(MemoryKind kind);
/// Throws hvd::Error for any other name.
MemoryKind memory_kind(const std::string& name);

/// Gives and takes back raw buffers, aligned to 64 bytes. Implementations are thread-safe.
class Allocator {
 public:
  static constexpr size_t kAlignment = 64;
  virtual ~Allocator() = default;
  /// At least `bytes` bytes (0 gives a valid, unusable address); throws hvd::Error when there is no memory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* address, size_t bytes) noexcept = 0;
  virtual MemoryKind kind() const = 0;
};

/// The allocator of a memory kind; throws hvd::Error for a kind of CUDA devices where there is none.
Allocator& allocator(MemoryKind kind);

/// A reference-counted buffer that tensors share. `version` counts in-place changes, so that backward notices a saved
/// value that was overwritten.
class Storage {
 public:
  Storage(size_t bytes, Allocator& source);
  /// Memory that somebody else owns; `owner` is kept alive as long as the storage.
  Storage(void* data, size_t bytes, std::shared_ptr<void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  uint64_t version() const { return version_; }
  void bump_version() { ++version_; }

 private:
  void* data_;
  size_t bytes_;
  Allocator* source_;
  std::shared_ptr<void> owner_;
  uint64_t version_ = 0;
};

}  // namespace hvd
