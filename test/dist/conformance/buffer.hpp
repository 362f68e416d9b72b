// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <hvd/dist/communicator.hpp>

#include "../conformance.hpp"
#include "device/gpu_library.hpp"
#include "dist/devices/transport.hpp"

namespace hvd::conformance {

/// A buffer of one type with a guard behind it, in one kind of memory. Its values are set and looked at on the host: an operand on a GPU is
/// sent there before an operation, and fetched afterwards.
template <class T>
class Buffer {
 public:
  Buffer(dist::Communicator& comm, std::size_t count, Memory memory) : count_(count) {
    const std::size_t bytes = (count + kGuard) * sizeof(T);
    if (memory == Memory::registered) host_ = comm.allocate(bytes);
    else host_ = std::shared_ptr<char>(new char[bytes](), std::default_delete<char[]>());
    std::memset(host_.get() + count * sizeof(T), 0x5a, kGuard * sizeof(T));
    if (memory == Memory::device) {
      Allocator& allocator = backends::require_gpu().allocator(MemoryKind::kDevice);
      device_ = {static_cast<char*>(allocator.allocate(bytes)), [&allocator, bytes](char* p) { allocator.release(p, bytes); }};
    }
  }

  T* data() { return reinterpret_cast<T*>(host_.get()); }
  T& operator[](std::size_t i) { return data()[i]; }

  /// What an operation is given, with the values that the buffer has now.
  T* operand() {
    if (!device_) return data();
    dist::copy_to_device(device_.get(), host_.get(), (count_ + kGuard) * sizeof(T));
    return reinterpret_cast<T*>(device_.get());
  }
  dist::Place place() const { return {device_ ? backends::require_gpu().device() : -1, nullptr}; }
  /// The values after the operation.
  void fetch() {
    if (device_) dist::copy_to_host(host_.get(), device_.get(), (count_ + kGuard) * sizeof(T));
  }
  bool guarded() const {
    for (std::size_t i = 0; i < kGuard * sizeof(T); ++i)
      if (host_.get()[count_ * sizeof(T) + i] != 0x5a) return false;
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 4;
  std::size_t count_;
  std::shared_ptr<char> host_, device_;
};

}  // namespace hvd::conformance
