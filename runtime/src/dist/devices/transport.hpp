// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who carries buffers that lie on GPUs, for one communicator.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::backends {
class GpuStream;
}

namespace hvd::dist {

/// The operations of Communicator on buffers of this process' GPU; each returns when the result is there. `ready`: Place::ready.
class DeviceTransport {
 public:
  virtual ~DeviceTransport() = default;
  DeviceTransport(const DeviceTransport&) = delete;
  DeviceTransport& operator=(const DeviceTransport&) = delete;

  virtual const char* name() const noexcept = 0;
  virtual void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const void* ready) = 0;
  virtual void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const void* ready) = 0;
  virtual void broadcast(void* data, std::size_t count, DataType type, int root, const void* ready) = 0;
  virtual void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const void* ready) = 0;
  virtual void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const void* ready) = 0;

 protected:
  explicit DeviceTransport(Communicator& comm) : comm_(comm) {}

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  bool urgent() const { return comm_.urgent(); }
  /// "allreduce 'gradients' (train.cpp:40, step 3)" of this rank.
  std::string current() const;
  /// Until the stream has reached the mark; `look`, now and then.
  void await(backends::GpuStream& stream, std::uint64_t mark, const std::function<void()>& look = {}) const;
  // The same collectives on buffers of the host, inside of the one that the communicator is in.
  void host_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) { comm_.do_allreduce(data, count, type, op); }
  void host_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) { comm_.do_reduce(data, count, type, op, root); }
  void host_broadcast(void* data, std::size_t count, DataType type, int root) { comm_.do_broadcast(data, count, type, root); }
  void host_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) {
    comm_.do_allgatherv(in, out, counts, type);
  }
  void host_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) {
    comm_.do_reduce_scatter(in, out, count, type, op);
  }

 private:
  Communicator& comm_;
};

/// Copied to the host, carried by the communicator, copied back: piece by piece, so that copies down, sums and copies up overlap.
std::unique_ptr<DeviceTransport> make_staged(Communicator& comm);

/// Between this process' GPU and the host, and on the GPU; each comes after all computations asked for. `to_host` waits.
void copy_to_host(void* host, const void* device, std::size_t bytes);
void copy_to_device(void* device, const void* host, std::size_t bytes);
void copy_on_device(void* to, const void* from, std::size_t bytes);

}  // namespace hvd::dist
