// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that processes of one host share: anonymous memory files, which have no name in any file system and are gone with
// the last process that has them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace hvd::dist {

/// An open file descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  ~File();
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// A new memory file of so many bytes, all zero. Throws std::runtime_error with the reason.
  static File memory(const char* name, std::size_t bytes);
  /// The file that process `pid` has open as `fd`; throws likewise.
  static File of_process(int pid, int fd);

 private:
  int fd_ = -1;
};

/// A part of a memory file in this process' address space.
class Mapping {
 public:
  Mapping() = default;
  /// `offset` must be a multiple of the page size; so many pages of addresses behind it stay unused. Throws std::runtime_error.
  Mapping(const File& file, std::size_t bytes, std::size_t offset = 0, std::size_t pages_behind = 0);
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), behind_(std::exchange(other.behind_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(behind_, other.behind_);
    return *this;
  }
  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0, behind_ = 0;
};

/// Where a buffer lies in the heap of the rank that owns it. length 0: it lies elsewhere.
struct HeapAddress {
  std::uint64_t block = 0;   // offset of its block in the heap's file
  std::uint64_t length = 0;  // of the block
  std::uint64_t offset = 0;  // of the buffer in the block
};

/// This rank's registered memory: what is allocated here the other ranks of the host can map. Thread-safe.
class Heap {
 public:
  Heap();
  int fd() const { return file_.get(); }
  /// Zeros, aligned to a page; freed with the last reference. Throws std::runtime_error when there is no memory.
  static std::shared_ptr<char> allocate(const std::shared_ptr<Heap>& heap, std::size_t bytes);
  HeapAddress find(const void* data, std::size_t bytes) const;

 private:
  struct Block {
    Mapping memory;
    std::uint64_t offset;  // in the file; never used again, so that it names the block for ever
  };
  void release(const char* address);

  File file_;
  mutable std::mutex mutex_;
  std::uint64_t end_ = 0;
  std::map<const char*, Block> blocks_;
};

/// The blocks of another rank's heap, as far as this rank has had to look at them. Thread-safe.
class PeerHeap {
 public:
  /// Behind blocks a few pages of addresses stay unused, one number for each peer. Else buffers of the same size, which are read side by side, may
  /// begin a power of two apart, and some first-level caches hold no two such lines at a time (256 MB apart: a sixth of the speed).
  PeerHeap(File file, int peer) : file_(std::move(file)), pages_behind_(1 + static_cast<std::size_t>(peer) % 15) {}
  /// The buffer in this process' address space.
  std::shared_ptr<char> at(const HeapAddress& address);

 private:
  File file_;
  std::size_t pages_behind_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Mapping>> blocks_;
};

}  // namespace hvd::dist
