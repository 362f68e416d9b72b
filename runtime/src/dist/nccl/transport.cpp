// SPDX-License-Identifier: Apache-2.0

// Collectives by NCCL, on a stream of their own that waits for the computations that a buffer comes from. The calling thread stays with its
// operation until it is done: somebody has to notice NCCL's errors, and the progress board then shows where the rank is.

#include <algorithm>
#include <stdexcept>

#include "../devices/transport.hpp"
#include "connection.hpp"
#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

nccl::Type nccl_type(DataType type) {
  switch (type) {
    case DataType::uint8: return nccl::kUint8;
    case DataType::int32: return nccl::kInt32;
    case DataType::int64: return nccl::kInt64;
    case DataType::uint64: return nccl::kUint64;
    case DataType::float32: return nccl::kFloat32;
    case DataType::float64: return nccl::kFloat64;
    case DataType::bfloat16:
    case DataType::float16: break;  // gradients that are compressed lie on the host
  }
  throw std::logic_error("no such type");
}

nccl::Op nccl_op(ReduceOp op) { return op == ReduceOp::sum ? nccl::kSum : op == ReduceOp::min ? nccl::kMin : nccl::kMax; }

class NcclTransport final : public DeviceTransport {
 public:
  NcclTransport(Communicator& comm, double deadline)
      : DeviceTransport(comm), nccl_(nccl_library().call), stream_(backends::require_gpu().make_stream()),
        connection_(rank(), size(), unique_id(), deadline, [this] { return current(); }) {}

  const char* name() const noexcept override { return "nccl"; }

  void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    run("ncclAllReduce", ready, [&] { return nccl_.AllReduce(data, data, count, nccl_type(type), nccl_op(op), comm(), stream()); });
  }
  void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const void* ready) override {
    run("ncclReduce", ready, [&] { return nccl_.Reduce(data, data, count, nccl_type(type), nccl_op(op), root, comm(), stream()); });
  }
  void broadcast(void* data, std::size_t count, DataType type, int root, const void* ready) override {
    run("ncclBroadcast", ready, [&] { return nccl_.Broadcast(data, data, count, nccl_type(type), root, comm(), stream()); });
  }
  void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const void* ready) override {
    run("ncclReduceScatter", ready, [&] { return nccl_.ReduceScatter(in, out, count, nccl_type(type), nccl_op(op), comm(), stream()); });
  }
  void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const void* ready) override {
    if (std::all_of(counts.begin(), counts.end(), [&](std::size_t c) { return c == counts[0]; }))
      return run("ncclAllGather", ready, [&] { return nccl_.AllGather(in, out, counts[0], nccl_type(type), comm(), stream()); });
    run("ncclGroupEnd", ready, [&] { return gather_parts(in, static_cast<char*>(out), counts, type); });
  }

 private:
  nccl::Handle comm() const { return connection_.handle(); }
  nccl::Stream stream() const { return stream_->handle(); }

  // Of rank 0, through the host. A failure is told to all in the place of the number.
  nccl::UniqueId unique_id() {
    struct {
      nccl::UniqueId id{};
      nccl::Result result = nccl::kSuccess;
    } root;
    if (rank() == 0) root.result = nccl_.GetUniqueId(&root.id);
    host_broadcast(&root, sizeof root, DataType::uint8, 0);
    if (root.result != nccl::kSuccess) throw std::runtime_error(std::string("ncclGetUniqueId on rank 0: ") + nccl_.GetErrorString(root.result));
    return root.id;
  }

  // Parts of different lengths: one broadcast from each rank, as one group.
  nccl::Result gather_parts(const void* in, char* out, const std::vector<std::size_t>& counts, DataType type) {
    nccl_.GroupStart();
    nccl::Result worst = nccl::kSuccess;
    for (int r = 0; r < size(); ++r) {
      const std::size_t count = counts[static_cast<std::size_t>(r)];
      if (count == 0) continue;
      const nccl::Result result = nccl_.Broadcast(r == rank() ? in : out, out, count, nccl_type(type), r, comm(), stream());
      if (result != nccl::kSuccess && result != nccl::kInProgress) worst = result;
      out += count * size_of(type);
    }
    const nccl::Result ended = nccl_.GroupEnd();
    return worst == nccl::kSuccess ? ended : worst;
  }

  template <class Begin>
  void run(const char* call, const void* ready, Begin begin) {
    try {
      stream_->wait_for(ready);
      connection_.finish_call(begin(), call);
      await(*stream_, stream_->mark(), [&] { connection_.poll(call); });
      stream_->hold_computations();
    } catch (const std::exception& error) {  // CUDA's: what is left on the stream will not come to its end
      connection_.fail(call, error.what());
    }
  }

  const nccl::Functions& nccl_;
  std::unique_ptr<backends::GpuStream> stream_;
  NcclConnection connection_;
};

}  // namespace

std::unique_ptr<DeviceTransport> connect_nccl(Communicator& comm, double deadline) { return std::make_unique<NcclTransport>(comm, deadline); }

}  // namespace hvd::dist
