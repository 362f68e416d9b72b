// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/nccl/communicator.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace emulated {

namespace {

std::size_t width_of(api::Type type) { return type == api::kUint8 ? 1 : type == api::kInt32 || type == api::kFloat32 ? 4 : 8; }

template <class T>
void combine_as(void* into, const void* from, std::size_t count, api::Op op) {
  T* const a = static_cast<T*>(into);
  const T* const b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = op == api::kSum ? static_cast<T>(a[i] + b[i]) : op == api::kMin ? std::min(a[i], b[i]) : std::max(a[i], b[i]);
}

void combine(void* into, const void* from, std::size_t count, api::Type type, api::Op op) {
  switch (type) {
    case api::kUint8: return combine_as<std::uint8_t>(into, from, count, op);
    case api::kInt32: return combine_as<std::int32_t>(into, from, count, op);
    case api::kInt64: return op == api::kSum ? combine_as<std::uint64_t>(into, from, count, op) : combine_as<std::int64_t>(into, from, count, op);
    case api::kUint64: return combine_as<std::uint64_t>(into, from, count, op);
    case api::kFloat32: return combine_as<float>(into, from, count, op);
    default: return combine_as<double>(into, from, count, op);
  }
}

std::uint64_t signature(const Operation& o) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(o.kind), static_cast<std::uint64_t>(o.count), static_cast<std::uint64_t>(o.type),
                                   static_cast<std::uint64_t>(o.op), static_cast<std::uint64_t>(o.root)})
    hash = (hash ^ part) * 1099511628211ull;
  return hash;
}

std::string host_id() {
  if (const char* const set = std::getenv("NCCL_HOSTID"); set && *set) return set;
  char name[200] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

[[noreturn]] void never() {
  for (;;) pause();
}

std::atomic<int>& operations() {
  static std::atomic<int> number{0};
  return number;
}

}  // namespace

const Fault& Fault::asked() {
  static const Fault fault = [] {
    Fault f;
    char what[32] = "";
    const char* const text = std::getenv("HVD_EMULATED_NCCL");
    if (text && std::sscanf(text, "%d:%31[a-z-]:%d", &f.rank, what, &f.operation) == 3) f.what = what;
    else f.rank = -1;
    return f;
  }();
  return fault;
}

Communicator::Communicator(const api::UniqueId& id, int ranks, int rank) : meeting_(id, ranks, rank), connecting_([this] { connect(); }) {}

Communicator::~Communicator() {
  aborted_ = true;
  connecting_.join();
  while (running_.load() > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void Communicator::connect() {
  const auto gone = [this] { return this->gone(); };
  const Fault& fault = Fault::asked();
  if (fault.rank == meeting_.rank() && fault.what == "init") {
    while (!gone()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  if (!meeting_.open()) return fail(3, "the root of the unique ID cannot be reached");
  if (!meeting_.arrive(host_id(), device_number(), gone)) return;
  if (const std::string two = meeting_.duplicates(); !two.empty()) return fail(api::kInvalidUsage, two);
  state_ = api::kSuccess;
}

void Communicator::fail(api::Result result, const std::string& why) {
  const std::lock_guard lock(mutex_);
  last_error_ = why;
  state_ = result;
}

std::string Communicator::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

api::Result Communicator::state() {
  if (state_ == api::kSuccess && polls_left_.load() > 0) {
    --polls_left_;
    return api::kInProgress;
  }
  return state_;
}

void Communicator::abort() {
  if (Fault::asked().rank == meeting_.rank() && Fault::asked().what == "error-hang") never();
  aborted_ = true;
}

api::Result Communicator::start(const Operation& o) {
  const std::size_t bytes = o.count * width_of(o.type), all = bytes * static_cast<std::size_t>(meeting_.ranks());
  const bool scatters = o.kind == Operation::Kind::reduce_scatter, gathers = o.kind == Operation::Kind::allgather;
  if (!o.stream || !o.stream->on_device(o.in, scatters ? all : bytes) || !o.stream->on_device(o.out, gathers ? all : bytes)) {
    fail(api::kInvalidArgument, "a buffer is not device memory");
    return api::kInvalidArgument;
  }
  ++running_;
  polls_left_ = 2;
  o.stream->enqueue([this, o] {
    run(o);
    --running_;
  });
  return api::kInProgress;
}

void Communicator::run(const Operation& o) {
  const Fault& fault = Fault::asked();
  const bool faulty = fault.rank == meeting_.rank() && operations()++ == fault.operation;
  if (faulty && fault.what == "kill") {
    meeting_.show(signature(o));
    raise(SIGKILL);
  }
  if (faulty && fault.what.rfind("error", 0) == 0) {
    fail(api::kRemoteError, "the connection was closed by the emulated network");
    while (!gone()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  meeting_.show(signature(o));
  const auto gone = [this] { return this->gone(); };
  if (!meeting_.meet(gone)) return;
  const bool same = meeting_.all_show_the_same();
  if (!meeting_.meet(gone)) return;
  if (!same) return fail(api::kInvalidUsage, "the ranks have called different operations");
  transfer(o);
}

// Piece by piece: every rank shows its piece, all take what they need.
void Communicator::transfer(const Operation& o) {
  const std::size_t width = width_of(o.type), ranks = static_cast<std::size_t>(meeting_.ranks()), each = kWindow / width;
  const auto me = static_cast<std::size_t>(meeting_.rank());
  const auto gone = [this] { return this->gone(); };
  const bool scatters = o.kind == Operation::Kind::reduce_scatter;
  const std::size_t total = scatters ? o.count * ranks : o.count;
  std::vector<char> sum(kWindow);
  for (std::size_t at = 0; at < total;) {
    const std::size_t block = scatters ? at / o.count : 0;  // whose part this is
    const std::size_t n = std::min(each, scatters ? (block + 1) * o.count - at : total - at);
    o.stream->copy_now(meeting_.window(meeting_.rank()), static_cast<const char*>(o.in) + at * width, n * width);
    if (!meeting_.meet(gone)) return;
    char* const out = static_cast<char*>(o.out) + at * width;
    if (o.kind == Operation::Kind::allgather) {
      for (std::size_t r = 0; r < ranks; ++r) o.stream->copy_now(out + r * o.count * width, meeting_.window(static_cast<int>(r)), n * width);
    } else if (o.kind == Operation::Kind::broadcast) {
      o.stream->copy_now(out, meeting_.window(o.root), n * width);
    } else if (o.kind == Operation::Kind::allreduce || (o.kind == Operation::Kind::reduce && static_cast<int>(me) == o.root) || (scatters && me == block)) {
      std::memcpy(sum.data(), meeting_.window(0), n * width);
      for (std::size_t r = 1; r < ranks; ++r) combine(sum.data(), meeting_.window(static_cast<int>(r)), n, o.type, o.op);
      o.stream->copy_now(scatters ? static_cast<char*>(o.out) + (at - block * o.count) * width : out, sum.data(), n * width);
    }
    if (!meeting_.meet(gone)) return;
    at += n;
  }
}

}  // namespace emulated
