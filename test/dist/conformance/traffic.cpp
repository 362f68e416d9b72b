// SPDX-License-Identifier: Apache-2.0

// Orders of operations, messages, memory.

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

#include "../check.hpp"
#include "../conformance.hpp"
#include "dist/board.hpp"

namespace hvd::conformance {

using namespace dist;

void check_determinism(Communicator& comm) {
  for (const bool registered : {false, true}) {
    for (const std::size_t count : {7, 5000, 100'003}) {
      const auto memory = comm.allocate(count * sizeof(float));
      std::vector<float> ordinary(count), first;
      float* data = registered ? reinterpret_cast<float*>(memory.get()) : ordinary.data();
      for (int run = 0; run < 2; ++run) {
        for (std::size_t i = 0; i < count; ++i)
          data[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(comm.rank()));
        comm.allreduce(data, count, DataType::float32, ReduceOp::sum, {"order"});
        if (run == 0) first.assign(data, data + count);
      }
      HVD_CHECK(std::equal(first.begin(), first.end(), data));
      comm.broadcast(data, count, DataType::float32, 0, {"order"});
      HVD_CHECK(std::equal(first.begin(), first.end(), data));
    }
  }
}

void check_uneven_gather(Communicator& comm) {
  for (const std::size_t step : {2, 30'000}) {
    std::vector<std::size_t> counts;
    std::vector<std::int64_t> expected;
    for (int r = 0; r < comm.size(); ++r) {
      counts.push_back(r % 3 == 0 ? 0 : step * static_cast<std::size_t>(r));
      for (std::size_t i = 0; i < counts.back(); ++i) expected.push_back(1'000'000 * r + static_cast<std::int64_t>(i));
    }
    std::vector<std::int64_t> mine(counts[static_cast<std::size_t>(comm.rank())]), all(expected.size());
    std::iota(mine.begin(), mine.end(), 1'000'000 * comm.rank());
    comm.allgatherv(mine.data(), all.data(), counts, DataType::int64, {"uneven"});
    HVD_CHECK(all == expected);
  }
}

namespace {

void send(Communicator& comm, const std::vector<std::int32_t>& data, int peer, int tag) {
  comm.send(data.data(), data.size(), DataType::int32, peer, tag, {"send"});
}

std::vector<std::int32_t> receive(Communicator& comm, std::size_t count, int peer, int tag) {
  std::vector<std::int32_t> data(count, -1);
  comm.recv(data.data(), count, DataType::int32, peer, tag, {"recv"});
  return data;
}

std::vector<std::int32_t> message(std::size_t count, int from, int tag) {
  std::vector<std::int32_t> data(count);
  std::iota(data.begin(), data.end(), 1000 * from + tag);
  return data;
}

}  // namespace

void check_messages(Communicator& comm) {
  const int n = comm.size(), me = comm.rank(), next = (me + 1) % n, previous = (me + n - 1) % n;
  for (const std::size_t count : {0, 1, 3, 5000, 100'000}) {
    if (me == 0) {
      send(comm, message(count, me, 3), next, 3);
      HVD_CHECK(receive(comm, count, previous, 3) == message(count, previous, 3));
    } else {
      HVD_CHECK(receive(comm, count, previous, 3) == message(count, previous, 3));
      send(comm, message(count, me, 3), next, 3);
    }
  }
  // Tags in another order than they were sent in, several of one tag in the order they were sent in.
  if (me == 0) {
    for (int tag = 0; tag < 4; ++tag) send(comm, message(10, 0, tag), 1, tag);
    send(comm, message(10, 0, 77), 1, 2);
  } else if (me == 1) {
    for (int tag = 3; tag >= 0; --tag) HVD_CHECK(receive(comm, 10, 0, tag) == message(10, 0, tag));
    HVD_CHECK(receive(comm, 10, 0, 2) == message(10, 0, 77));
  }
  comm.barrier({"messages"});
}

void check_sequences(Communicator& comm, int operations) {
  std::mt19937 random(7);
  constexpr std::size_t kLargest = 70'000;
  const auto memory = comm.allocate(kLargest * sizeof(double));
  std::vector<double> ordinary(kLargest);
  const double n = comm.size();
  for (int k = 0; k < operations; ++k) {
    const std::size_t count = random() % 3 ? random() % 600 : random() % kLargest;
    double* data = random() % 2 ? ordinary.data() : reinterpret_cast<double*>(memory.get());
    const int root = static_cast<int>(random() % static_cast<unsigned>(comm.size())), kind = static_cast<int>(random() % 4);
    for (std::size_t i = 0; i < count; ++i) data[i] = k + comm.rank();
    double expected = k + root;
    if (kind == 0) {
      comm.broadcast(data, count, DataType::float64, root, {"sequence"});
    } else if (kind == 1) {
      comm.barrier({"sequence"});
      expected = k + comm.rank();
    } else {
      comm.allreduce(data, count, DataType::float64, ReduceOp::sum, {"sequence"});
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
