// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

namespace hvd::bench {

namespace {

using dist::DataType;
using dist::ReduceOp;

std::size_t same(std::size_t count, int) { return count; }
std::size_t all(std::size_t count, int ranks) { return count * static_cast<std::size_t>(ranks); }
std::size_t none(std::size_t, int) { return 0; }

float value(std::size_t i, int rank) { return static_cast<float>(i % 7) + static_cast<float>(rank); }
float sum(std::size_t i, int ranks) { return static_cast<float>(ranks) * value(i, 0) + static_cast<float>(ranks * (ranks - 1) / 2); }

template <class Expected>
bool all_are(const float* data, std::size_t count, Expected expected) {
  for (std::size_t i = 0; i < count; ++i)
    if (data[i] != expected(i)) return false;
  return true;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

const Operation kAllreduce{
    "allreduce", same, none,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) {
      MPI_Allreduce(MPI_IN_PLACE, b.in, static_cast<int>(n), MPI_FLOAT, MPI_SUM, comm);
    },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      comm.allreduce(b.in, n, DataType::float32, ReduceOp::sum, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int, int ranks) {
      return all_are(b.in, n, [&](std::size_t i) { return sum(i, ranks); });
    }};

const Operation kReduce{
    "reduce", same, none,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) {
      const bool root = rank_of(comm) == 0;
      MPI_Reduce(root ? MPI_IN_PLACE : b.in, b.in, static_cast<int>(n), MPI_FLOAT, MPI_SUM, 0, comm);
    },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      comm.reduce(b.in, n, DataType::float32, ReduceOp::sum, 0, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int rank, int ranks) {
      return rank != 0 || all_are(b.in, n, [&](std::size_t i) { return sum(i, ranks); });
    }};

const Operation kBroadcast{
    "broadcast", same, none,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) { MPI_Bcast(b.in, static_cast<int>(n), MPI_FLOAT, 0, comm); },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      comm.broadcast(b.in, n, DataType::float32, 0, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int, int) { return all_are(b.in, n, [](std::size_t i) { return value(i, 0); }); }};

const Operation kAllgather{
    "allgather", same, all,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) {
      MPI_Allgather(b.in, static_cast<int>(n), MPI_FLOAT, b.out, static_cast<int>(n), MPI_FLOAT, comm);
    },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      comm.allgather(b.in, n, b.out, DataType::float32, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int, int ranks) {
      return all_are(b.out, n * static_cast<std::size_t>(ranks),
                     [&](std::size_t i) { return value(i % n, static_cast<int>(i / n)); });
    }};

const Operation kReduceScatter{
    "reduce_scatter", all, same,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) {
      MPI_Reduce_scatter_block(b.in, b.out, static_cast<int>(n), MPI_FLOAT, MPI_SUM, comm);
    },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      comm.reduce_scatter(b.in, b.out, n, DataType::float32, ReduceOp::sum, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int rank, int ranks) {
      const std::size_t first = n * static_cast<std::size_t>(rank);
      return all_are(b.out, n, [&](std::size_t i) { return sum(first + i, ranks); });
    }};

// From rank 0 to rank 1 and back.
const Operation kSendRecv{
    "sendrecv", same, none,
    [](const Buffers& b, std::size_t n, MPI_Comm comm) {
      const int rank = rank_of(comm), count = static_cast<int>(n);
      if (rank > 1) return;
      if (rank == 0) MPI_Send(b.in, count, MPI_FLOAT, 1, 0, comm);
      MPI_Recv(b.in, count, MPI_FLOAT, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(b.in, count, MPI_FLOAT, 0, 0, comm);
    },
    [](const Buffers& b, std::size_t n, dist::Communicator& comm) {
      const int rank = comm.rank();
      if (rank > 1) return;
      if (rank == 0) comm.send(b.in, n, DataType::float32, 1, 0, {"bench"}, b.place);
      comm.recv(b.in, n, DataType::float32, 1 - rank, 0, {"bench"}, b.place);
      if (rank == 1) comm.send(b.in, n, DataType::float32, 0, 0, {"bench"}, b.place);
    },
    [](const Buffers& b, std::size_t n, int rank, int) {
      return rank > 1 || all_are(b.in, n, [](std::size_t i) { return value(i, 0); });
    }};

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{kAllreduce, kReduce, kBroadcast, kAllgather, kReduceScatter, kSendRecv};
  return all;
}

}  // namespace hvd::bench
