// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/communicator.hpp>
#include <hvd/dist/failure.hpp>

#include <atomic>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "backends.hpp"
#include "board.hpp"
#include "check.hpp"
#include "devices/plan.hpp"
#include "rank.hpp"
#include "shares.hpp"
#include "trace.hpp"

namespace hvd::dist {

std::size_t size_of(DataType type) noexcept {
  switch (type) {
    case DataType::uint8: return 1;
    case DataType::bfloat16:
    case DataType::float16: return 2;
    case DataType::int32:
    case DataType::float32: return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64: return 8;
  }
  return 0;
}

const char* name_of(DataType type) noexcept {
  switch (type) {
    case DataType::uint8: return "uint8";
    case DataType::int32: return "int32";
    case DataType::int64: return "int64";
    case DataType::uint64: return "uint64";
    case DataType::float32: return "float32";
    case DataType::float64: return "float64";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float16: return "float16";
  }
  return "?";
}

namespace {

// FNV-1a over what all ranks must agree on.
class Signature {
 public:
  Signature& add(const char* text) {
    for (; text && *text; ++text) step(static_cast<unsigned char>(*text));
    return *this;
  }
  Signature& add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) step(static_cast<unsigned char>(value >> (8 * i)));
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  void step(unsigned char byte) { hash_ = (hash_ ^ byte) * 1099511628211ull; }
  std::uint64_t hash_ = 14695981039346656037ull;
};

// One rank: its part is the result.
void copy_own(void* to, const void* from, std::size_t bytes, const Place& place) {
  if (to == from) return;
  if (place.device >= 0) copy_on_device(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

}  // namespace

// Notes one operation in the trace, with the time in which it runs.
class Communicator::Traced {
 public:
  Traced(Communicator& comm, const char* op, const OpName& name, std::uint64_t count, DataType type, int peer, const Place& place)
      : comm_(comm), on_device_(place.device >= 0) {
    if (!comm.trace_) return;
    operation_ = {op, name, count, count * size_of(type), ++comm.traced_, name_of(type), peer, ""};
    comm.trace_->flush(true);
    begun_ = Trace::now();
  }
  ~Traced() {
    if (!begun_) return;
    operation_.backend = on_device_ && comm_.device_transport_ ? comm_.device_transport_->name() : comm_.backend();
    comm_.trace_->operation(comm_.track_, operation_, begun_);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

 private:
  Communicator& comm_;
  bool on_device_;
  Trace::Operation operation_;
  std::int64_t begun_ = 0;  // 0: not traced
};

// Notes on the board that this rank waits, for the lifetime of one operation. An operation that throws is left as well: its rank
// is on its way out, which the board shows by other means.
class Communicator::Watch {
 public:
  Watch(Communicator& comm, const char* op, const OpName& name, std::uint64_t count, DataType type, int root, const Place& place = {})
      : comm_(comm), traced_(comm, op, name, count, type, -1, place), waiting_(comm.meter_) {
    if (comm_.size_ > 1) end_after_failure();
    comm_.inside_ = true;
    enter(op, name, count, type, root);
    comm_.current_op_ = name.name;
  }
  ~Watch() { leave(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void enter(const char* op, const OpName& name, std::uint64_t count, DataType type, int root) {
    if (!comm_.board_ && !comm_.check_) return;
    const auto kind = static_cast<std::uint64_t>(type);
    const std::uint64_t signature =
        Signature().add(op).add(name.name).add(comm_.partial_ ? 0 : count).add(kind).add(static_cast<std::uint64_t>(root)).value();
    if (comm_.board_) comm_.board_->enter(comm_.channel_, op, name, signature);
    try {
      if (comm_.check_) return compare_all(comm_.check_->record(op, name, count, type, root));
      const std::string difference = comm_.board_->compare(comm_.channel_);
      if (!difference.empty()) throw OperationMismatch(difference);
    } catch (...) {
      leave();
      throw;
    }
  }

  // Whatever operation a rank has come to, this exchange is the same one.
  void compare_all(const CheckRecord& mine) {
    const auto ranks = static_cast<std::size_t>(comm_.size_);
    std::vector<CheckRecord> all(ranks);
    comm_.current_op_ = "HVD_CHECK";
    if (ranks > 1) {
      comm_.do_allgatherv(&mine, all.data(), std::vector<std::size_t>(ranks, sizeof mine), DataType::uint8);
      CollectiveCheck::compare(all);
    }
  }

  void leave() {
    comm_.inside_ = false;
    comm_.current_op_ = "";
    if (comm_.board_) comm_.board_->leave(comm_.channel_);
  }

  Communicator& comm_;
  const Traced traced_;
  const SpeedMeter::Waiting waiting_;
};

// The same for send and recv: the peer in place of what must agree.
class Communicator::PeerWatch {
 public:
  PeerWatch(Communicator& comm, const char* op, const OpName& name, std::uint64_t count, DataType type, int peer, const Place& place)
      : comm_(comm), traced_(comm, op, name, count, type, peer, place), waiting_(comm.meter_) {
    comm_.current_op_ = name.name;
    if (comm_.board_) comm_.board_->enter(kPeerChannel, op, name, static_cast<std::uint64_t>(peer));
  }
  ~PeerWatch() {
    comm_.current_op_ = "";
    if (comm_.board_) comm_.board_->leave(kPeerChannel);
  }
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

 private:
  Communicator& comm_;
  const Traced traced_;
  const SpeedMeter::Waiting waiting_;
};

Communicator::Communicator(int rank, int size, int local_rank) : rank_(rank), size_(size), local_rank_(local_rank) {}
Communicator::~Communicator() = default;

std::shared_ptr<char> Communicator::allocate(std::size_t bytes) {
  constexpr std::align_val_t kLine{64};
  char* memory = static_cast<char*>(::operator new[](bytes ? bytes : 1, kLine));
  std::memset(memory, 0, bytes);
  return {memory, [](char* p) { ::operator delete[](p, kLine); }};
}

std::unique_ptr<Communicator> Communicator::among(const std::vector<int>& ranks, double deadline) {
  return make_local_among(*this, ranks, deadline);
}

void Communicator::watch(ProgressBoard* board, int channel) noexcept {
  board_ = board;
  channel_ = channel;
}

void Communicator::set_urgent(bool urgent) noexcept { std::atomic_ref<int>(urgent_).store(urgent, std::memory_order_relaxed); }
bool Communicator::urgent() const noexcept {
  return std::atomic_ref<int>(const_cast<int&>(urgent_)).load(std::memory_order_relaxed) != 0;
}

void Communicator::use_devices(std::shared_ptr<Devices> devices) {
  device_transport_.reset();
  devices_ = std::move(devices);
}

void Communicator::plan_devices() {
  if (!devices_) throw std::runtime_error(std::string("backend ") + backend() + " carries host memory only");
  if (devices_->planned()) return;
  const DeviceFacts mine = devices_->facts();
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<DeviceFacts> all(ranks);
  const std::vector<std::size_t> counts(ranks, sizeof mine);
  if (inside_) do_allgatherv(&mine, all.data(), counts, DataType::uint8);
  else allgatherv(&mine, all.data(), counts, DataType::uint8, {"devices"});
  devices_->adopt(all, rank_);
}

DeviceTransport& Communicator::connected_devices() {
  if (device_transport_) return *device_transport_;
  plan_devices();
  device_transport_ = devices_->connect(*this);
  return *device_transport_;
}

DeviceTransport& Communicator::device_transport() {
  if (device_transport_) return *device_transport_;
  plan_devices();
  Watch watch(*this, "connect", {"devices"}, 0, DataType::uint8, 0);
  return connected_devices();
}

bool Communicator::takes(const Place& place, const char* op, const OpName& name) const {
  if (place.device < 0) return false;
  if (!devices_ && size_ > 1)
    throw dist::Failure<std::runtime_error>(std::string(op) + " '" + name.name + "': backend " + backend() + " carries host memory only, device " +
                             std::to_string(place.device) + " given");
  return true;
}

void Communicator::allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const OpName& name, Place place) {
  const bool device = takes(place, "allreduce", name);
  Watch watch(*this, "allreduce", name, count, type, static_cast<int>(op), place);
  if (size_ == 1 || count == 0) return;
  if (device) connected_devices().allreduce(data, count, type, op, place.ready);
  else do_allreduce(data, count, type, op);
}

void Communicator::reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const OpName& name, Place place) {
  const bool device = takes(place, "reduce", name);
  Watch watch(*this, "reduce", name, count, type, root * 4 + static_cast<int>(op), place);
  if (size_ == 1 || count == 0) return;
  if (device) connected_devices().reduce(data, count, type, op, root, place.ready);
  else do_reduce(data, count, type, op, root);
}

void Communicator::broadcast(void* data, std::size_t count, DataType type, int root, const OpName& name, Place place) {
  const bool device = takes(place, "broadcast", name);
  Watch watch(*this, "broadcast", name, count, type, root, place);
  if (size_ == 1 || count == 0) return;
  if (device) connected_devices().broadcast(data, count, type, root, place.ready);
  else do_broadcast(data, count, type, root);
}

void Communicator::allgather(const void* in, std::size_t count, void* out, DataType type, const OpName& name, Place place) {
  allgatherv(in, out, std::vector<std::size_t>(static_cast<std::size_t>(size_), count), type, name, place);
}

void Communicator::allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type,
                              const OpName& name, Place place) {
  const bool device = takes(place, "allgather", name);
  if (counts.size() != static_cast<std::size_t>(size_))
    throw dist::Failure<std::runtime_error>(std::string("allgather '") + name.name + "': " + std::to_string(counts.size()) + " counts for " +
                             std::to_string(size_) + " ranks");
  std::size_t total = 0;
  for (std::size_t c : counts) total += c;
  Watch watch(*this, "allgather", name, total, type, 0, place);
  if (total == 0) return;
  if (size_ == 1) copy_own(out, in, total * size_of(type), place);
  else if (device) connected_devices().allgatherv(in, out, counts, type, place.ready);
  else do_allgatherv(in, out, counts, type);
}

void Communicator::reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const OpName& name,
                                  Place place) {
  const bool device = takes(place, "reduce_scatter", name);
  Watch watch(*this, "reduce_scatter", name, count, type, static_cast<int>(op), place);
  if (count == 0) return;
  if (size_ == 1) copy_own(out, in, count * size_of(type), place);
  else if (device) connected_devices().reduce_scatter(in, out, count, type, op, place.ready);
  else do_reduce_scatter(in, out, count, type, op);
}

namespace {
void require_peer(const Communicator& comm, const char* op, int peer, const OpName& name) {
  if (peer < 0 || peer >= comm.size() || peer == comm.rank())
    throw dist::Failure<std::runtime_error>(std::string(op) + " '" + name.name + "': rank " + std::to_string(comm.rank()) + " of " +
                             std::to_string(comm.size()) + " has no peer " + std::to_string(peer));
}
}  // namespace

void Communicator::send(const void* data, std::size_t count, DataType type, int peer, int tag, const OpName& name, Place place) {
  const bool device = takes(place, "send", name);
  require_peer(*this, "send", peer, name);
  PeerWatch watch(*this, "send", name, count, type, peer, place);
  if (device) send_from_device(data, count, type, peer, tag);
  else do_send(data, count, type, peer, tag);
}

void Communicator::recv(void* data, std::size_t count, DataType type, int peer, int tag, const OpName& name, Place place) {
  const bool device = takes(place, "recv", name);
  require_peer(*this, "recv", peer, name);
  PeerWatch watch(*this, "recv", name, count, type, peer, place);
  if (device) recv_on_device(data, count, type, peer, tag);
  else do_recv(data, count, type, peer, tag);
}

void Communicator::barrier(const OpName& name) {
  Watch watch(*this, "barrier", name, 0, DataType::uint8, 0);
  if (size_ > 1) do_barrier();
}

}  // namespace hvd::dist
