// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "../board.hpp"
#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

const backends::Backend& gpu() { return *backends::require_gpu().backend(DeviceType::kCublas); }

constexpr std::size_t kPiece = std::size_t{1} << 20;  // bytes
constexpr std::size_t kPage = 4096;

class Staged final : public DeviceTransport {
 public:
  explicit Staged(Communicator& comm)
      : DeviceTransport(comm), comm_(comm), down_(backends::require_gpu().make_stream()), up_(backends::require_gpu().make_stream()) {}
  const char* name() const noexcept override { return comm_.backend(); }

  void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    pipeline(data, data, count, type, ready, [&](char* part, std::size_t n) { host_allreduce(part, n, type, op); });
  }
  void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const void* ready) override {
    pipeline(data, rank() == root ? data : nullptr, count, type, ready, [&](char* part, std::size_t n) { host_reduce(part, n, type, op, root); });
  }
  void broadcast(void* data, std::size_t count, DataType type, int root, const void* ready) override {
    const bool mine = rank() == root;
    pipeline(mine ? data : nullptr, mine ? nullptr : data, count, type, ready, [&](char* part, std::size_t n) { host_broadcast(part, n, type, root); });
  }
  void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const void* ready) override {
    const std::size_t mine = counts[static_cast<std::size_t>(rank())] * size_of(type);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * size_of(type);
    whole(in, mine, out, all, ready, [&](char* from, char* to) { host_allgatherv(from, to, counts, type); });
  }
  void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    const std::size_t part = count * size_of(type);
    whole(in, part * static_cast<std::size_t>(size()), out, part, ready, [&](char* from, char* to) { host_reduce_scatter(from, to, count, type, op); });
  }

 private:
  // While one piece is carried, those behind it come down, and those before it go up. `in` null: nothing comes down; `out` null: nothing goes up.
  template <class Carry>
  void pipeline(const void* in, void* out, std::size_t count, DataType type, const void* ready, Carry carry) {
    const std::size_t bytes = count * size_of(type);
    char* const host = room(bytes);
    begin(ready);
    std::vector<std::uint64_t> marks;
    for (std::size_t at = 0; in && at < bytes; at += kPiece) {
      down_->copy(host + at, static_cast<const char*>(in) + at, std::min(kPiece, bytes - at));
      marks.push_back(down_->mark());
    }
    for (std::size_t at = 0; at < bytes; at += kPiece) {
      const std::size_t part = std::min(kPiece, bytes - at);
      if (in) await(*down_, marks[at / kPiece]);
      carry(host + at, part / size_of(type));
      if (out) up_->copy(static_cast<char*>(out) + at, host + at, part);
    }
    end();
  }

  template <class Carry>
  void whole(const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes, const void* ready, Carry carry) {
    const std::size_t behind = (in_bytes + 63) / 64 * 64;
    char* const host = room(behind + out_bytes);
    begin(ready);
    if (in_bytes) down_->copy(host, in, in_bytes);
    await(*down_, down_->mark());
    carry(host, host + behind);
    up_->copy(out, host + behind, out_bytes);
    end();
  }

  void begin(const void* ready) {
    down_->wait_for(ready);
    up_->wait_for(ready);  // computations may still read what is written over
  }
  void end() {
    await(*up_, up_->mark());
    up_->hold_computations();
  }

  // Memory of the host, registered with the communicator and pinned; kept for the next operation. Pages of its own: pinning goes by pages.
  char* room(std::size_t bytes) {
    if (bytes > bytes_) {
      pinned_.reset();
      memory_ = comm_.allocate(bytes + 2 * kPage);
      start_ = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory_.get()) + kPage - 1) / kPage * kPage);
      pinned_ = backends::require_gpu().pin(start_, (bytes + kPage - 1) / kPage * kPage);
      bytes_ = bytes;
    }
    return start_;
  }

  Communicator& comm_;
  std::unique_ptr<backends::GpuStream> down_, up_;
  std::shared_ptr<char> memory_;
  std::shared_ptr<void> pinned_;  // goes before the memory does
  char* start_ = nullptr;
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

void DeviceTransport::await(backends::GpuStream& stream, std::uint64_t mark, const std::function<void()>& look) const {
  constexpr int kPollsPerLook = 32, kPollsBeforeNap = 2'000;
  for (int polls = 0; !stream.reached(mark); ++polls) {
    if (look && polls % kPollsPerLook == 0) look();
    if (urgent() && polls < kPollsBeforeNap) {
      sched_yield();
    } else {
      const timespec nap{0, 20'000};
      nanosleep(&nap, nullptr);
    }
  }
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
