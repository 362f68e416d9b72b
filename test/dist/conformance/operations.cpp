// SPDX-License-Identifier: Apache-2.0

// Results are small whole numbers, exact in every type, that depend on the element and on every rank.

#include <cstring>
#include <memory>

#include "../check.hpp"
#include "../conformance.hpp"

namespace hvd::conformance {

using namespace dist;

namespace {

constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::min, ReduceOp::max};

// What rank r has at place i: at most 14, so that 8 ranks' sum fits a byte.
int value(std::size_t i, int r) { return static_cast<int>((i * 7 + static_cast<std::size_t>(r) * 3 + i / 5) % 15); }

int reduced(std::size_t i, int ranks, ReduceOp op) {
  int result = value(i, 0);
  for (int r = 1; r < ranks; ++r) {
    const int v = value(i, r);
    if (op == ReduceOp::sum) result += v;
    else if (op == ReduceOp::min ? v < result : v > result) result = v;
  }
  return result;
}

// A buffer of one type with a guard behind it, in ordinary or in registered memory.
template <class T>
class Buffer {
 public:
  Buffer(Communicator& comm, std::size_t count, bool registered) : count_(count) {
    const std::size_t bytes = (count + kGuard) * sizeof(T);
    if (registered) memory_ = comm.allocate(bytes);
    else memory_ = std::shared_ptr<char>(new char[bytes](), std::default_delete<char[]>());
    std::memset(memory_.get() + count * sizeof(T), 0x5a, kGuard * sizeof(T));
  }
  T* data() { return reinterpret_cast<T*>(memory_.get()); }
  T& operator[](std::size_t i) { return data()[i]; }
  // Places first, first + 1, ... of rank r at element `at`.
  void fill(std::size_t at, std::size_t count, std::size_t first, int r) {
    for (std::size_t i = 0; i < count; ++i) data()[at + i] = static_cast<T>(value(first + i, r));
  }
  bool guarded() const {
    for (std::size_t i = 0; i < kGuard * sizeof(T); ++i)
      if (memory_.get()[count_ * sizeof(T) + i] != 0x5a) return false;
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 4;
  std::size_t count_;
  std::shared_ptr<char> memory_;
};

template <class T>
struct Case {
  Communicator& comm;
  DataType type;
  std::size_t count;
  bool registered;
  int n = comm.size(), me = comm.rank();

  Buffer<T> buffer(std::size_t elements) { return Buffer<T>(comm, elements, registered); }

  void allreduce(ReduceOp op) {
    auto data = buffer(count);
    data.fill(0, count, 0, me);
    comm.allreduce(data.data(), count, type, op, {"allreduce"});
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == static_cast<T>(reduced(i, n, op)));
    HVD_CHECK(data.guarded());
  }

  void reduce(ReduceOp op, int root) {
    auto data = buffer(count);
    data.fill(0, count, 0, me);
    comm.reduce(data.data(), count, type, op, root, {"reduce"});
    for (std::size_t i = 0; i < count && me == root; ++i) HVD_CHECK(data[i] == static_cast<T>(reduced(i, n, op)));
    HVD_CHECK(data.guarded());
  }

  void broadcast(int root) {
    auto data = buffer(count);
    data.fill(0, count, 0, me);
    comm.broadcast(data.data(), count, type, root, {"broadcast"});
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == static_cast<T>(value(i, root)));
    HVD_CHECK(data.guarded());
  }

  void allgather(bool in_place) {
    auto all = buffer(count * static_cast<std::size_t>(n)), mine = buffer(count);
    T* in = in_place ? all.data() + count * static_cast<std::size_t>(me) : mine.data();
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<T>(value(i, me));
    comm.allgather(in, count, all.data(), type, {"allgather"});
    for (int r = 0; r < n; ++r)
      for (std::size_t i = 0; i < count; ++i)
        HVD_CHECK(all[count * static_cast<std::size_t>(r) + i] == static_cast<T>(value(i, r)));
    HVD_CHECK(all.guarded() && mine.guarded());
  }

  void reduce_scatter(ReduceOp op, bool in_place) {
    auto blocks = buffer(count * static_cast<std::size_t>(n)), part = buffer(count);
    blocks.fill(0, count * static_cast<std::size_t>(n), 0, me);
    const std::size_t first = count * static_cast<std::size_t>(me);
    T* out = in_place ? blocks.data() + first : part.data();
    comm.reduce_scatter(blocks.data(), out, count, type, op, {"reduce_scatter"});
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(out[i] == static_cast<T>(reduced(first + i, n, op)));
    HVD_CHECK(blocks.guarded() && part.guarded());
  }

  void all() {
    for (const ReduceOp op : kOps) {
      allreduce(op);
      reduce(op, static_cast<int>(count) % n);
      reduce_scatter(op, false);
      reduce_scatter(op, true);
    }
    for (int root = 0; root < n; ++root) broadcast(root);
    allgather(false);
    allgather(true);
    comm.barrier({"barrier"});
  }
};

template <class T>
void check_type(Communicator& comm, DataType type, std::size_t largest) {
  for (const std::size_t count : {0, 1, 3, 17, 1000, 2049, 40'003, 300'001})
    for (const bool registered : {false, true})
      if (count <= largest) Case<T>{comm, type, count, registered}.all();
}

}  // namespace

void check_operations(Communicator& comm, std::size_t largest) {
  check_type<std::uint8_t>(comm, DataType::uint8, largest);
  check_type<std::int32_t>(comm, DataType::int32, largest);
  check_type<std::int64_t>(comm, DataType::int64, largest);
  check_type<std::uint64_t>(comm, DataType::uint64, largest);
  check_type<float>(comm, DataType::float32, largest);
  check_type<double>(comm, DataType::float64, largest);
}

}  // namespace hvd::conformance
