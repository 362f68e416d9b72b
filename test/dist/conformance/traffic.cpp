// SPDX-License-Identifier: Apache-2.0

// Orders of operations, messages, memory.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

#include "../check.hpp"
#include "../conformance.hpp"
#include "buffer.hpp"
#include "dist/board.hpp"

namespace hvd::conformance {

using namespace dist;

void check_determinism(Communicator& comm, const Memories& memories) {
  for (const Memory memory : memories) {
    for (const std::size_t count : {7, 5000, 100'003}) {
      Buffer<float> data(comm, count, memory);
      std::vector<float> first;
      for (int run = 0; run < 2; ++run) {
        for (std::size_t i = 0; i < count; ++i)
          data[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(comm.rank()));
        comm.allreduce(data.operand(), count, DataType::float32, ReduceOp::sum, {"order"}, data.place());
        data.fetch();
        if (run == 0) first.assign(data.data(), data.data() + count);
      }
      HVD_CHECK(std::equal(first.begin(), first.end(), data.data()));
      comm.broadcast(data.operand(), count, DataType::float32, 0, {"order"}, data.place());
      data.fetch();
      HVD_CHECK(std::equal(first.begin(), first.end(), data.data()));
    }
  }
}

void check_uneven_gather(Communicator& comm, Memory memory) {
  for (const std::size_t step : {2, 30'000}) {
    std::vector<std::size_t> counts;
    std::vector<std::int64_t> expected;
    for (int r = 0; r < comm.size(); ++r) {
      counts.push_back(r % 3 == 0 ? 0 : step * static_cast<std::size_t>(r));
      for (std::size_t i = 0; i < counts.back(); ++i) expected.push_back(1'000'000 * r + static_cast<std::int64_t>(i));
    }
    const std::size_t own = counts[static_cast<std::size_t>(comm.rank())];
    Buffer<std::int64_t> mine(comm, own, memory), all(comm, expected.size(), memory);
    std::iota(mine.data(), mine.data() + own, 1'000'000 * comm.rank());
    comm.allgatherv(mine.operand(), all.operand(), counts, DataType::int64, {"uneven"}, all.place());
    all.fetch();
    HVD_CHECK(std::equal(expected.begin(), expected.end(), all.data()));
    HVD_CHECK(all.guarded());
  }
}

namespace {

// Messages of one communicator, from and to one kind of memory.
class Post {
 public:
  Post(Communicator& comm, Memory memory) : comm_(comm), memory_(memory) {}
  void send(const std::vector<std::int32_t>& data, int peer, int tag) const {
    Buffer<std::int32_t> buffer(comm_, data.size(), memory_);
    std::copy(data.begin(), data.end(), buffer.data());
    comm_.send(buffer.operand(), data.size(), DataType::int32, peer, tag, {"send"}, buffer.place());
  }
  std::vector<std::int32_t> receive(std::size_t count, int peer, int tag) const {
    Buffer<std::int32_t> buffer(comm_, count, memory_);
    std::fill_n(buffer.data(), count, -1);
    comm_.recv(buffer.operand(), count, DataType::int32, peer, tag, {"recv"}, buffer.place());
    buffer.fetch();
    HVD_CHECK(buffer.guarded());
    return {buffer.data(), buffer.data() + count};
  }

 private:
  Communicator& comm_;
  Memory memory_;
};

std::vector<std::int32_t> message(std::size_t count, int from, int tag) {
  std::vector<std::int32_t> data(count);
  std::iota(data.begin(), data.end(), 1000 * from + tag);
  return data;
}

}  // namespace

void check_messages(Communicator& comm, Memory memory) {
  const Post post(comm, memory);
  const int n = comm.size(), me = comm.rank(), next = (me + 1) % n, previous = (me + n - 1) % n;
  for (const std::size_t count : {0, 1, 3, 5000, 100'000}) {
    if (me == 0) {
      post.send(message(count, me, 3), next, 3);
      HVD_CHECK(post.receive(count, previous, 3) == message(count, previous, 3));
    } else {
      HVD_CHECK(post.receive(count, previous, 3) == message(count, previous, 3));
      post.send(message(count, me, 3), next, 3);
    }
  }
  // Tags in another order than they were sent in, several of one tag in the order they were sent in.
  if (me == 0) {
    for (int tag = 0; tag < 4; ++tag) post.send(message(10, 0, tag), 1, tag);
    post.send(message(10, 0, 77), 1, 2);
  } else if (me == 1) {
    for (int tag = 3; tag >= 0; --tag) HVD_CHECK(post.receive(10, 0, tag) == message(10, 0, tag));
    HVD_CHECK(post.receive(10, 0, 2) == message(10, 0, 77));
  }
  comm.barrier({"messages"});
}

void check_sequences(Communicator& comm, int operations, const Memories& memories) {
  std::mt19937 random(7);
  constexpr std::size_t kLargest = 70'000;
  std::vector<Buffer<double>> buffers;
  for (const Memory memory : memories) buffers.emplace_back(comm, kLargest, memory);
  const double n = comm.size();
  for (int k = 0; k < operations; ++k) {
    const std::size_t count = random() % 3 ? random() % 600 : random() % kLargest;
    Buffer<double>& data = buffers[random() % buffers.size()];
    const int root = static_cast<int>(random() % static_cast<unsigned>(comm.size())), kind = static_cast<int>(random() % 4);
    for (std::size_t i = 0; i < count; ++i) data[i] = k + comm.rank();
    double expected = k + root;
    if (kind == 0) {
      comm.broadcast(data.operand(), count, DataType::float64, root, {"sequence"}, data.place());
      data.fetch();
    } else if (kind == 1) {
      comm.barrier({"sequence"});
      expected = k + comm.rank();
    } else {
      comm.allreduce(data.operand(), count, DataType::float64, ReduceOp::sum, {"sequence"}, data.place());
      data.fetch();
      expected = n * k + n * (n - 1) / 2;
    }
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == expected);
  }
}

void check_two_channels(Communicator& comm) {
  auto other = comm.duplicate(kReducerChannel);
  other->set_urgent(false);
  const double n = comm.size();
  bool good = true;
  std::thread second([&] {
    for (int i = 0; i < 200; ++i) {
      std::vector<double> x(i % 50 == 0 ? 20'000 : 1, i);
      other->allreduce(x.data(), x.size(), DataType::float64, ReduceOp::sum, {"second"});
      good = good && x.front() == i * n && x.back() == i * n;
    }
  });
  for (int i = 0; i < 200; ++i) {
    double x = -i;
    comm.allreduce(&x, 1, DataType::float64, ReduceOp::sum, {"first"});
    HVD_CHECK(x == -i * n);
  }
  second.join();
  HVD_CHECK(good);
}

void check_memory(Communicator& comm) {
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + static_cast<std::size_t>(round * 37 % 9000);
    const auto memory = comm.allocate(count * sizeof(float));
    float* data = reinterpret_cast<float*>(memory.get());
    HVD_CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    for (std::size_t i = 0; i < count; ++i) HVD_CHECK(data[i] == 0);
    data[0] = data[count - 1] = static_cast<float>(comm.rank() + round);
    comm.allreduce(data, count, DataType::float32, ReduceOp::max, {"memory"});
    HVD_CHECK(data[0] == static_cast<float>(comm.size() - 1 + round) && data[count - 1] == data[0]);
  }
  const auto nothing = comm.allocate(0);
  HVD_CHECK(nothing != nullptr);
}

}  // namespace hvd::conformance
