// SPDX-License-Identifier: Apache-2.0

// Addresses of device memory handed to a CUDA-aware MPI library. Its blocking calls: those are what such libraries support on device memory
// (Open MPI's non-blocking reductions are not). The library knows nothing of streams, so the computations are waited for first.

#define OMPI_SKIP_MPICXX 1  // the C interface only
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <stdexcept>

#include <hvd/dist/failure.hpp>

#include "../backends.hpp"
#include "../devices/transport.hpp"
#include "../mpi/types.hpp"
#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // counts of MPI are ints

class MpiCudaTransport final : public DeviceTransport {
 public:
  explicit MpiCudaTransport(Communicator& comm) : DeviceTransport(comm), stream_(backends::require_gpu().make_stream()) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~MpiCudaTransport() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&comm_);
  }

  const char* name() const noexcept override { return "mpi_cuda"; }

  void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    pieces(data, count, type, ready, [&](void* part, int n) {
      check(MPI_Allreduce(MPI_IN_PLACE, part, n, mpi_type(type), known(type, op), comm_), "MPI_Allreduce");
    });
  }
  void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const void* ready) override {
    pieces(data, count, type, ready, [&](void* part, int n) {
      check(MPI_Reduce(rank() == root ? MPI_IN_PLACE : part, part, n, mpi_type(type), known(type, op), root, comm_), "MPI_Reduce");
    });
  }
  void broadcast(void* data, std::size_t count, DataType type, int root, const void* ready) override {
    pieces(data, count, type, ready, [&](void* part, int n) { check(MPI_Bcast(part, n, mpi_type(type), root, comm_), "MPI_Bcast"); });
  }
  // As broadcasts, one from each rank: lengths and offsets may then exceed an int.
  void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const void* ready) override {
    char* to = static_cast<char*>(out);
    for (int r = 0; r < size(); ++r) {
      const std::size_t count = counts[static_cast<std::size_t>(r)];
      if (r == rank() && in != to) copy_on_device(to, in, count * size_of(type));
      broadcast(to, count, type, r, r == rank() ? nullptr : ready);
      to += count * size_of(type);
    }
  }
  // The result may have to lie in the middle of the operand, which MPI does not allow.
  void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    if (count > kMostAtOnce) throw std::runtime_error("reduce_scatter: more than 2^30 elements per rank");
    computed(ready);
    Allocator& memory = backends::require_gpu().allocator(MemoryKind::kDevice);
    const std::size_t bytes = count * size_of(type);
    const std::shared_ptr<void> part(memory.allocate(bytes), [&memory, bytes](void* p) { memory.release(p, bytes); });
    check(MPI_Reduce_scatter_block(in, part.get(), static_cast<int>(count), mpi_type(type), known(type, op), comm_), "MPI_Reduce_scatter_block");
    copy_on_device(out, part.get(), bytes);
  }

 private:
  void computed(const void* ready) {
    stream_->wait_for(ready);
    await(*stream_, stream_->mark());
  }

  template <class Body>
  void pieces(void* data, std::size_t count, DataType type, const void* ready, Body body) {
    computed(ready);
    for (std::size_t done = 0; done < count; done += kMostAtOnce)
      body(static_cast<char*>(data) + done * size_of(type), static_cast<int>(std::min(kMostAtOnce, count - done)));
  }

  // MPI has no floats of 16 bits, and no operation of ours could be called on device memory.
  MPI_Op known(DataType type, ReduceOp op) const {
    if (type != DataType::bfloat16 && type != DataType::float16) return mpi_op(op);
    throw std::runtime_error(std::string("mpi_cuda adds up no ") + name_of(type) + " numbers " + current());
  }

  void check(int code, const char* what) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw dist::Failure<std::runtime_error>(std::string(what) + " on device memory, rank " + std::to_string(rank()) + " " + current() + ": " + text);
  }

  std::unique_ptr<backends::GpuStream> stream_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

std::string mpi_cuda_problem() {
  const auto query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  if (!query) return "this MPI library does not say whether it takes device memory (it has no MPIX_Query_cuda_support)";
  if (!query()) return "this MPI library takes no device memory (MPIX_Query_cuda_support says no)";
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) return "this MPI library lets one thread in at a time; MPI_THREAD_MULTIPLE is needed";
  return {};
}

std::unique_ptr<DeviceTransport> connect_mpi_cuda(Communicator& comm) { return std::make_unique<MpiCudaTransport>(comm); }

}  // namespace hvd::dist
