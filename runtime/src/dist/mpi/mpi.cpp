// SPDX-License-Identifier: Apache-2.0
#include "../backends.hpp"

#include <stdexcept>

#define OMPI_SKIP_MPICXX 1  // the C interface only: the C++ one is gone from the standard
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <mutex>
#include <string>
#include <vector>

#include <hvd/dist/failure.hpp>

#include "../combine.hpp"
#include "../tuning.hpp"
#include "types.hpp"

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

constexpr int kExchangeRanks = 16;                 // above, the number of messages counts
constexpr int kTags = 2;                           // of the exchange; those of send and recv come after them
constexpr std::size_t kSegment = 256 * 1024;       // bytes per rank
// Counts of MPI are ints; longer buffers go in pieces.
constexpr std::size_t kLargestCount = std::size_t{1} << 30;

bool is_short_float(DataType type) { return type == DataType::bfloat16 || type == DataType::float16; }

// What the library calls to combine numbers that it does not know.
template <DataType type, ReduceOp op>
void combine_for_library(void* in, void* into, int* count, MPI_Datatype*) {
  combine(into, in, static_cast<std::size_t>(*count), type, op);
}

template <DataType type, ReduceOp op>
MPI_Op make_operation() {
  MPI_Op made = MPI_OP_NULL;
  MPI_Op_create(combine_for_library<type, op>, 1, &made);
  return made;
}

template <DataType type>
MPI_Op short_float_operation(ReduceOp op) {
  static const MPI_Op sum = make_operation<type, ReduceOp::sum>(), min = make_operation<type, ReduceOp::min>(),
                      max = make_operation<type, ReduceOp::max>();
  return op == ReduceOp::sum ? sum : op == ReduceOp::min ? min : max;
}

MPI_Op operation(DataType type, ReduceOp op) {
  if (type == DataType::bfloat16) return short_float_operation<DataType::bfloat16>(op);
  if (type == DataType::float16) return short_float_operation<DataType::float16>(op);
  return mpi_op(op);
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, int rank, int size, int local_rank, bool own_core, const Tuning& tuning = {})
      : Communicator(rank, size, local_rank), comm_(comm), polls_before_yield_(own_core ? 20'000 : 100), tuning_(tuning) {}
  ~MpiCommunicator() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  const char* backend() const noexcept override { return "mpi"; }
  MPI_Comm handle() const { return comm_; }
  void tune(const Tuning& tuning) override { tuning_ = tuning; }
  bool own_core() const { return polls_before_yield_ > 100; }

  std::unique_ptr<Communicator> duplicate(int channel) override {
    MPI_Comm copy = MPI_COMM_NULL;
    check(MPI_Comm_dup(comm_, &copy), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    auto result = std::make_unique<MpiCommunicator>(copy, rank(), size(), local_rank(), own_core(), tuning_);
    result->watch(board(), channel);
    return result;
  }

 protected:
  void do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) override {
    // Short floats are exchanged whatever their number: the sum is then formed in float32.
    const bool large = is_short_float(type) || count * size_of(type) >= tuning_.exchange_from;
    if (large && size() <= kExchangeRanks) return exchange(data, count, type, op);
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Iallreduce(MPI_IN_PLACE, part, n, mpi_type(type), operation(type, op), comm_, r); });
    });
  }

  void do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) {
        return MPI_Ireduce(rank() == root ? MPI_IN_PLACE : part, part, n, mpi_type(type), operation(type, op), root, comm_, r);
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
    if (total <= kLargestCount && std::all_of(counts.begin(), counts.end(), [&](std::size_t c) { return c == largest; })) {
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
    if (count > kLargestCount) throw std::runtime_error("reduce_scatter: more than 2^30 elements per rank");
    start([&](MPI_Request* r) {
      return MPI_Ireduce_scatter_block(in, out, static_cast<int>(count), mpi_type(type), operation(type, op), comm_, r);
    });
  }

  void do_send(const void* data, std::size_t count, DataType type, int peer, int tag) override {
    pieces(count, type, const_cast<void*>(data), [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Isend(part, n, mpi_type(type), peer, tag + kTags, comm_, r); });
    });
  }

  void do_recv(void* data, std::size_t count, DataType type, int peer, int tag) override {
    pieces(count, type, data, [&](void* part, int n) {
      return start([&](MPI_Request* r) { return MPI_Irecv(part, n, mpi_type(type), peer, tag + kTags, comm_, r); });
    });
  }

  void do_barrier() override {
    start([&](MPI_Request* r) { return MPI_Ibarrier(comm_, r); });
  }

 private:
  // Large sums: every rank adds up its own part of the buffer, in the order of ranks, and hands out the result. Each element
  // crosses the wire as often as in a ring, with two waits instead of 2(N-1). In segments, so that the copies stay in cache.
  void exchange(void* data, std::size_t count, DataType type, ReduceOp op) {
    const std::size_t segment = kSegment / size_of(type) * static_cast<std::size_t>(size());
    for (std::size_t done = 0; done < count; done += segment)
      exchange_segment(static_cast<char*>(data) + done * size_of(type), std::min(segment, count - done), type, op);
  }

  void exchange_segment(char* data, std::size_t count, DataType type, ReduceOp op) {
    const auto ranks = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
    const std::size_t width = size_of(type);
    const auto first = [&](std::size_t r) { return count * r / ranks; };
    const auto part = [&](std::size_t r) { return data + first(r) * width; };
    const auto length = [&](std::size_t r) { return static_cast<int>(first(r + 1) - first(r)); };
    const std::size_t mine = static_cast<std::size_t>(length(me)) * width;
    parts_.resize(mine * ranks);
    both_ways([&](std::size_t r, MPI_Request* in, MPI_Request* out) {
      check(MPI_Irecv(parts_.data() + r * mine, length(me), mpi_type(type), static_cast<int>(r), 0, comm_, in), "MPI_Irecv");
      check(MPI_Isend(part(r), length(r), mpi_type(type), static_cast<int>(r), 0, comm_, out), "MPI_Isend");
    });
    std::copy_n(part(me), mine, parts_.data() + me * mine);
    std::vector<const char*> parts;
    for (std::size_t r = 0; r < ranks; ++r) parts.push_back(parts_.data() + r * mine);
    combine_all(part(me), parts, static_cast<std::size_t>(length(me)), type, op);
    both_ways([&](std::size_t r, MPI_Request* in, MPI_Request* out) {
      check(MPI_Irecv(part(r), length(r), mpi_type(type), static_cast<int>(r), 1, comm_, in), "MPI_Irecv");
      check(MPI_Isend(part(me), length(me), mpi_type(type), static_cast<int>(r), 1, comm_, out), "MPI_Isend");
    });
  }

  // One message from and one to every other rank, at the same time.
  template <class Begin>
  void both_ways(Begin begin) {
    requests_.clear();
    for (int r = 0; r < size(); ++r) {
      if (r == rank()) continue;
      MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
      Inside inside;
      begin(static_cast<std::size_t>(r), &in, &out);
      requests_.push_back(in);
      requests_.push_back(out);
    }
    drive([&](int* done) { return MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), done, MPI_STATUSES_IGNORE); });
  }

  void check(int code, const char* what) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw dist::Failure<std::runtime_error>(std::string(what) + " '" + current_op() + "' on rank " + std::to_string(rank()) + ": " + text);
  }

  template <class Body>
  void pieces(std::size_t count, DataType type, void* data, Body body) {
    char* at = static_cast<char*>(data);
    for (std::size_t done = 0; done < count; done += kLargestCount) {
      const std::size_t n = std::min(kLargestCount, count - done);
      body(at, static_cast<int>(n));
      at += n * size_of(type);
    }
  }

  // Starts a non-blocking operation and drives it to its end. Always a non-blocking one: it does not match the blocking one of another rank,
  // and ranks differ in how urgently they wait. A thread that spins in a blocking call would take the core from
  // the backward pass that it is meant to run beside, so it naps between polls unless somebody waits for it.
  template <class Start>
  void start(Start begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      Inside inside;
      check(begin(&request), "MPI operation");
    }
    drive([&](int* done) { return MPI_Test(&request, done, MPI_STATUS_IGNORE); });
  }

  template <class Test>
  void drive(Test test) {
    for (int polls = 0;; ++polls) {
      int done = 0;
      {
        Inside inside;
        check(test(&done), "MPI_Test");
      }
      if (done) return;
      pause(polls);
    }
  }

  void pause(int polls) const {
    if (urgent()) {
      if (polls > polls_before_yield_) sched_yield();  // the core may be shared with the rank that is waited for
      return;
    }
    const timespec nap{0, 30'000};
    nanosleep(&nap, nullptr);
  }

  MPI_Comm comm_;
  int polls_before_yield_;
  Tuning tuning_;
  std::vector<char> parts_;
  std::vector<MPI_Request> requests_;
};

struct Host {
  int rank = 0, size = 1;
  bool enough_cores() const { return size <= sysconf(_SC_NPROCESSORS_ONLN); }
};

Host place_on_host(MPI_Comm world) {
  MPI_Comm comm = MPI_COMM_NULL;
  Host host;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  MPI_Comm_rank(comm, &host.rank);
  MPI_Comm_size(comm, &host.size);
  MPI_Comm_free(&comm);
  return host;
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
  const Host host = place_on_host(own);
  Tuning tuning;
  std::uint64_t from = rank == 0 ? tuning_for("mpi", size).exchange_from : 0;
  MPI_Bcast(&from, 1, MPI_UINT64_T, 0, own);
  tuning.exchange_from = from;
  auto comm = std::make_unique<MpiCommunicator>(own, rank, size, host.rank, host.enough_cores(), tuning);
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
  auto result = std::make_unique<MpiCommunicator>(host, rank, size, rank, mpi.own_core());
  result->set_urgent(true);
  return result;
}

}  // namespace hvd::dist
