// SPDX-License-Identifier: Apache-2.0
#include "../backends.hpp"

#include <stdexcept>

#define OMPI_SKIP_MPICXX 1  // the C interface only: the C++ one is gone from the standard
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <climits>
#include <mutex>
#include <string>

namespace hvd::dist {

namespace {

// Below MPI_THREAD_MULTIPLE only one thread at a time may be inside the library: then all calls take this lock.
struct Library {
  bool serialise = false;
  bool ours = false;  // whether this runtime called MPI_Init
  std::mutex mutex;
};
Library& library() {
  static Library instance;
  return instance;
}

class Inside {
 public:
  Inside() {
    if (library().serialise) library().mutex.lock();
  }
  ~Inside() {
    if (library().serialise) library().mutex.unlock();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::uint8: return MPI_UINT8_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::int64: return MPI_INT64_T;
    case DataType::uint64: return MPI_UINT64_T;
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ReduceOp op) { return op == ReduceOp::sum ? MPI_SUM : op == ReduceOp::min ? MPI_MIN : MPI_MAX; }

// Counts of MPI are ints; longer buffers go in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, int rank, int size, int local_rank) : Communicator(rank, size, local_rank), comm_(comm) {}
  ~MpiCommunicator() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  const char* backend() const noexcept override { return "mpi"; }
  MPI_Comm handle() const { return comm_; }

  std::unique_ptr<Communicator> duplicate(int channel) override {
    MPI_Comm copy = MPI_COMM_NULL;
    check(MPI_Comm_dup(comm_, &copy), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    auto result = std::make_unique<MpiCommunicator>(copy, rank(), size(), local_rank());
    result->watch(board(), channel);
    return result;
  }

 protected:
  void do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Iallreduce(MPI_IN_PLACE, part, n, mpi_type(type), mpi_op(op), comm_, r); });
    });
  }

  void do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) {
        return MPI_Ireduce(rank() == root ? MPI_IN_PLACE : part, part, n, mpi_type(type), mpi_op(op), root, comm_, r);
      });
    });
  }

  void do_broadcast(void* data, std::size_t count, DataType type, int root) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Ibcast(part, n, mpi_type(type), root, comm_, r); });
    });
  }

  // As broadcasts, one per rank: lengths and offsets may then exceed an int.
  void do_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) override {
    std::size_t largest = 0, total = 0;
    for (std::size_t c : counts) {
      largest = std::max(largest, c);
      total += c;
    }
    if (total <= kPiece && std::all_of(counts.begin(), counts.end(), [&](std::size_t c) { return c == largest; })) {
      start([&](MPI_Request* r) {
        const int n = static_cast<int>(largest);
        return MPI_Iallgather(in, n, mpi_type(type), out, n, mpi_type(type), comm_, r);
      });
      return;
    }
    char* to = static_cast<char*>(out);
    for (int r = 0; r < size(); ++r) {
      const std::size_t n = counts[static_cast<std::size_t>(r)], bytes = n * size_of(type);
      if (r == rank()) std::copy_n(static_cast<const char*>(in), bytes, to);
      if (n) do_broadcast(to, n, type, r);
      to += bytes;
    }
  }

  void do_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) override {
    if (count > kPiece) throw std::runtime_error("reduce_scatter: more than 2^30 elements per rank");
    start([&](MPI_Request* r) {
      return MPI_Ireduce_scatter_block(in, out, static_cast<int>(count), mpi_type(type), mpi_op(op), comm_, r);
    });
  }

  void do_send(const void* data, std::size_t count, DataType type, int peer, int tag) override {
    pieces(count, type, const_cast<void*>(data), [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Isend(part, n, mpi_type(type), peer, tag, comm_, r); });
    });
  }

  void do_recv(void* data, std::size_t count, DataType type, int peer, int tag) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Irecv(part, n, mpi_type(type), peer, tag, comm_, r); });
    });
  }

  void do_barrier() override {
    start([&](MPI_Request* r) { return MPI_Ibarrier(comm_, r); });
  }

 private:
  void check(int code, const char* what) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw std::runtime_error(std::string(what) + " '" + current_op() + "' on rank " + std::to_string(rank()) + ": " + text);
  }

  template <class Body>
  void pieces(std::size_t count, DataType type, void* data, Body body) {
    char* at = static_cast<char*>(data);
    for (std::size_t done = 0; done < count; done += kPiece) {
      const std::size_t n = std::min(kPiece, count - done);
      body(at, static_cast<int>(n));
      at += n * size_of(type);
    }
  }

  // Starts a non-blocking operation and drives it to its end. A thread that spins in a blocking call would take the core from
  // the backward pass that it is meant to run beside, so it naps between polls unless somebody waits for it.
  template <class Start>
  void start(Start begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      Inside inside;
      check(begin(&request), "MPI operation");
    }
    for (int polls = 0;; ++polls) {
      int done = 0;
      {
        Inside inside;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      }
      if (done) return;
      pause(polls);
    }
  }

  void pause(int polls) const {
    if (urgent()) {
      if (polls > 100) sched_yield();
      return;
    }
    const timespec nap{0, 30'000};
    nanosleep(&nap, nullptr);
  }

  MPI_Comm comm_;
};

int rank_on_host(MPI_Comm world) {
  MPI_Comm host = MPI_COMM_NULL;
  int local = 0;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &local);
  MPI_Comm_free(&host);
  return local;
}

}  // namespace

bool have_mpi() noexcept { return true; }

std::unique_ptr<Communicator> make_mpi() {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Query_thread(&provided);
  else MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  library().ours = !initialized;
  library().serialise = provided < MPI_THREAD_MULTIPLE;
  if (provided < MPI_THREAD_SERIALIZED)
    throw std::runtime_error("this MPI library allows calls from one thread only; MPI_THREAD_SERIALIZED is needed");
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &size);
  auto comm = std::make_unique<MpiCommunicator>(own, rank, size, rank_on_host(own));
  comm->set_urgent(true);
  return comm;
}

void finalize_mpi() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (library().ours && !finalized) MPI_Finalize();
}

std::unique_ptr<Communicator> ranks_of_this_host(Communicator& comm) {
  auto& mpi = static_cast<MpiCommunicator&>(comm);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(mpi.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &size);
  auto result = std::make_unique<MpiCommunicator>(host, rank, size, rank);
  result->set_urgent(true);
  return result;
}

}  // namespace hvd::dist
