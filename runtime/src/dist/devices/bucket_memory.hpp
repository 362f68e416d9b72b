// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the buckets of a reducer lie, and how values get into them.

#include <cstddef>
#include <functional>
#include <memory>

#include <hvd/dist/communicator.hpp>

namespace hvd::backends {
class Backend;
}

namespace hvd::dist {

class BucketMemory {
 public:
  virtual ~BucketMemory() = default;
  /// Of the GPU that the buckets lie on; -1: the host.
  virtual int device() const { return -1; }
  /// Whether it is of use only where buffers of GPUs are carried without the host.
  virtual bool only_direct() const { return false; }
  virtual std::shared_ptr<char> allocate(std::size_t bytes) = 0;
  /// to[i] = scale * from[i], of float32 or float64, both in this memory; `from` null: zeros.
  virtual void put(void* to, const void* from, std::size_t count, DataType type, double scale) = 0;
  /// To and from memory of the host; `read` waits for what has been asked for before.
  virtual void write(void* to, const void* host, std::size_t bytes) = 0;
  virtual void read(void* host, const void* from, std::size_t bytes) = 0;
  /// Place::ready of what has been put so far.
  virtual std::shared_ptr<void> ready() { return nullptr; }
};

/// `allocate` gives the memory of the host.
std::unique_ptr<BucketMemory> make_host_buckets(std::function<std::shared_ptr<char>(std::size_t)> allocate);
/// On this process' GPU, filled by `gpu`.
std::unique_ptr<BucketMemory> make_device_buckets(const backends::Backend& gpu);

}  // namespace hvd::dist
