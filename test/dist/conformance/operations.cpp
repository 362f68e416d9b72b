// SPDX-License-Identifier: Apache-2.0

// Results are small whole numbers, exact in every type, that depend on the element and on every rank.

#include <hvd/core/float16.hpp>

#include "../check.hpp"
#include "../conformance.hpp"
#include "buffer.hpp"

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

template <class T>
struct Case {
  Communicator& comm;
  DataType type;
  std::size_t count;
  Memory memory;
  int n = comm.size(), me = comm.rank();

  Buffer<T> buffer(std::size_t elements) { return Buffer<T>(comm, elements, memory); }
  // Places 0, 1, ... of rank r.
  static void fill(Buffer<T>& data, std::size_t elements, int r) {
    for (std::size_t i = 0; i < elements; ++i) data[i] = static_cast<T>(value(i, r));
  }

  void allreduce(ReduceOp op) {
    auto data = buffer(count);
    fill(data, count, me);
    comm.allreduce(data.operand(), count, type, op, {"allreduce"}, data.place());
    data.fetch();
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == static_cast<T>(reduced(i, n, op)));
    HVD_CHECK(data.guarded());
  }

  void reduce(ReduceOp op, int root) {
    auto data = buffer(count);
    fill(data, count, me);
    comm.reduce(data.operand(), count, type, op, root, {"reduce"}, data.place());
    data.fetch();
    for (std::size_t i = 0; i < count && me == root; ++i) HVD_CHECK(data[i] == static_cast<T>(reduced(i, n, op)));
    HVD_CHECK(data.guarded());
  }

  void broadcast(int root) {
    auto data = buffer(count);
    fill(data, count, me);
    comm.broadcast(data.operand(), count, type, root, {"broadcast"}, data.place());
    data.fetch();
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == static_cast<T>(value(i, root)));
    HVD_CHECK(data.guarded());
  }

  void allgather(bool in_place) {
    const std::size_t first = count * static_cast<std::size_t>(me);
    auto all = buffer(count * static_cast<std::size_t>(n)), mine = buffer(count);
    for (std::size_t i = 0; i < count; ++i) (in_place ? all[first + i] : mine[i]) = static_cast<T>(value(i, me));
    T* const out = all.operand();
    comm.allgather(in_place ? out + first : mine.operand(), count, out, type, {"allgather"}, all.place());
    all.fetch();
    for (int r = 0; r < n; ++r)
      for (std::size_t i = 0; i < count; ++i)
        HVD_CHECK(all[count * static_cast<std::size_t>(r) + i] == static_cast<T>(value(i, r)));
    HVD_CHECK(all.guarded() && mine.guarded());
  }

  void reduce_scatter(ReduceOp op, bool in_place) {
    auto blocks = buffer(count * static_cast<std::size_t>(n)), part = buffer(count);
    fill(blocks, count * static_cast<std::size_t>(n), me);
    const std::size_t first = count * static_cast<std::size_t>(me);
    T* const in = blocks.operand();
    comm.reduce_scatter(in, in_place ? in + first : part.operand(), count, type, op, {"reduce_scatter"}, blocks.place());
    blocks.fetch();
    part.fetch();
    for (std::size_t i = 0; i < count; ++i)
      HVD_CHECK((in_place ? blocks[first + i] : part[i]) == static_cast<T>(reduced(first + i, n, op)));
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
void check_type(Communicator& comm, DataType type, std::size_t largest, const Memories& memories) {
  for (const std::size_t count : {0, 1, 3, 17, 1000, 2049, 40'003, 300'001})
    for (const Memory memory : memories)
      if (count <= largest) Case<T>{comm, type, count, memory}.all();
}

}  // namespace

namespace {

// 256 and two ones, which in bfloat16 stay 256 when they are added one at a time, and so in float16 with 2048: sums are formed in float32.
template <class T>
void check_short_sum(Communicator& comm, DataType type, float large, std::size_t count, Memory memory) {
  Buffer<T> data(comm, count, memory);
  const float mine = comm.rank() == 0 ? large : comm.rank() <= 2 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < count; ++i) data[i] = T(mine);
  comm.allreduce(data.operand(), count, type, ReduceOp::sum, {"short sum"}, data.place());
  data.fetch();
  const float sum = comm.size() >= 3 ? large + 2 : large;
  for (std::size_t i = 0; i < count; ++i) HVD_CHECK(static_cast<float>(data[i]) == sum);
  HVD_CHECK(data.guarded());
}

}  // namespace

void check_operations(Communicator& comm, std::size_t largest, const Memories& memories) {
  check_type<std::uint8_t>(comm, DataType::uint8, largest, memories);
  check_type<std::int32_t>(comm, DataType::int32, largest, memories);
  check_type<std::int64_t>(comm, DataType::int64, largest, memories);
  check_type<std::uint64_t>(comm, DataType::uint64, largest, memories);
  check_type<float>(comm, DataType::float32, largest, memories);
  check_type<double>(comm, DataType::float64, largest, memories);
  if (memories[0] == Memory::device) return;  // the others are for gradients that are compressed, which lie on the host
  check_type<BFloat16>(comm, DataType::bfloat16, largest, memories);
  check_type<Half>(comm, DataType::float16, largest, memories);
  for (const std::size_t count : {1, 40'003})
    for (const Memory memory : memories) {
      check_short_sum<BFloat16>(comm, DataType::bfloat16, 256, count, memory);
      check_short_sum<Half>(comm, DataType::float16, 2048, count, memory);
    }
}

}  // namespace hvd::conformance
