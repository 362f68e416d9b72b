// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include <cstring>
#include <numeric>

#include "../board.hpp"
#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

const backends::Backend& gpu() { return *backends::require_gpu().backend(DeviceType::kCublas); }

class Staged final : public DeviceTransport {
 public:
  explicit Staged(Communicator& comm) : DeviceTransport(comm), comm_(comm) {}
  const char* name() const noexcept override { return comm_.backend(); }

  void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const void*) override {
    char* const host = fetch(data, count * size_of(type), 0);
    host_allreduce(host, count, type, op);
    copy_to_device(data, host, count * size_of(type));
  }
  void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const void*) override {
    char* const host = fetch(data, count * size_of(type), 0);
    host_reduce(host, count, type, op, root);
    if (rank() == root) copy_to_device(data, host, count * size_of(type));
  }
  void broadcast(void* data, std::size_t count, DataType type, int root, const void*) override {
    const std::size_t bytes = count * size_of(type);
    char* const host = rank() == root ? fetch(data, bytes, 0) : room(bytes);
    host_broadcast(host, count, type, root);
    if (rank() != root) copy_to_device(data, host, bytes);
  }
  void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const void*) override {
    const std::size_t mine = counts[static_cast<std::size_t>(rank())] * size_of(type);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * size_of(type);
    char* const host = fetch(in, mine, all);
    host_allgatherv(host, host + aligned(mine), counts, type);
    copy_to_device(out, host + aligned(mine), all);
  }
  void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const void*) override {
    const std::size_t part = count * size_of(type), all = part * static_cast<std::size_t>(size());
    char* const host = fetch(in, all, part);
    host_reduce_scatter(host, host + aligned(all), count, type, op);
    copy_to_device(out, host + aligned(all), part);
  }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  // Memory of the host, registered with the communicator; kept for the next operation.
  char* room(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_ = comm_.allocate(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  // `bytes` of the device's buffer, with `more` behind them.
  char* fetch(const void* data, std::size_t bytes, std::size_t more) {
    char* const host = room(aligned(bytes) + more);
    copy_to_host(host, data, bytes);
    return host;
  }

  Communicator& comm_;
  std::shared_ptr<char> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceTransport> make_staged(Communicator& comm) { return std::make_unique<Staged>(comm); }

// Messages are matched by tag, and a short one does not wait for its receiver. NCCL has neither, and a message is no collective in which
// ranks could connect: so they go through the host everywhere.
void Communicator::send_from_device(const void* data, std::size_t count, DataType type, int peer, int tag) {
  std::vector<char> host(count * size_of(type));
  copy_to_host(host.data(), data, host.size());
  do_send(host.data(), count, type, peer, tag);
}

void Communicator::recv_on_device(void* data, std::size_t count, DataType type, int peer, int tag) {
  std::vector<char> host(count * size_of(type));
  do_recv(host.data(), count, type, peer, tag);
  copy_to_device(data, host.data(), host.size());
}

std::string DeviceTransport::current() const {
  if (!comm_.board()) return std::string("'") + comm_.current_op() + "'";
  char text[200];
  describe_rank(comm_.board()->slot(), text, sizeof text);
  return text;
}

void copy_to_host(void* host, const void* device, std::size_t bytes) {
  if (bytes) gpu().to_host(host, device, bytes);
}

void copy_to_device(void* device, const void* host, std::size_t bytes) {
  if (bytes) gpu().from_host(device, host, bytes);
}

void copy_on_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  // In the widest words that both ends allow: only the size of an element matters to the copy.
  const std::size_t ends = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  const Dtype word = ends % 8 == 0 ? Dtype::kInt64 : ends % 4 == 0 ? Dtype::kFloat32 : Dtype::kBool;
  backends::Extents extents;
  extents.dims = 1;
  extents.size[0] = static_cast<std::int64_t>(bytes / dtype_size(word));
  gpu().copy(extents, {to, word, {1}}, {const_cast<void*>(from), word, {1}});
}

}  // namespace hvd::dist
