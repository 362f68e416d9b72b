// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collectives over raw buffers. The engine above it (reducer, metrics, broadcast) serves every framework; a backend below
// it implements the protected functions and nothing else.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hvd::dist {

/// bfloat16 and float16 (hvd/core/float16.hpp): sums are formed in float32 and rounded once, or where a library forms them (MPI, for more than
/// 16 ranks or to one rank) after each addition.
enum class DataType : std::uint8_t { uint8, int32, int64, uint64, float32, float64, bfloat16, float16 };
enum class ReduceOp : std::uint8_t { sum, min, max };

/// Bytes of one element.
std::size_t size_of(DataType type) noexcept;
const char* name_of(DataType type) noexcept;

/// Where a buffer lives: the host is device -1. `ready`: the event (GpuLibrary::note_computations) after which a buffer on a GPU holds its
/// values; null: when all is done that this process has asked of the GPU so far.
struct Place {
  int device = -1;
  const void* ready = nullptr;
};

/// What an operation is called in messages: `name` ("gradients"), and the source line it was called from, if known; `batch`: the
/// number of the batch that it belongs to, where another thread than the rank's own runs it, else -1.
struct OpName {
  const char* name = "";
  const char* file = "";
  int line = 0;
  std::int64_t batch = -1;
  int bucket = -1;  // of gradients or parameters, by its number; -1: none
};

class ProgressBoard;
class CollectiveCheck;
class Devices;
class DeviceTransport;
class SpeedMeter;
class Trace;
struct Tuning;

/// A group of ranks. Every call is collective over the group (send and recv: over the pair) and blocks until this rank's part
/// is done. All ranks must pass the same counts, types and roots. Sums are formed in an order that depends on the number of
/// ranks and the count only, and are bitwise the same on all ranks. Errors: std::runtime_error that names the operation.
/// Buffers do not overlap, but that the input of a gather may be this rank's block of the output, and the output of reduce_scatter
/// this rank's block of the input.
/// One thread at a time per communicator; threads that communicate at the same time use duplicates.
/// A buffer on a GPU (Place::device) is so on all ranks; who carries it is chosen once for the job (devices/plan.hpp). The calls wait for
/// such a buffer too, and computations asked for afterwards find the result.
class Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  int local_rank() const noexcept { return local_rank_; }
  virtual const char* backend() const noexcept = 0;

  /// In place, elementwise over all ranks.
  void allreduce(void* data, std::size_t count, DataType type, ReduceOp op, const OpName& name, Place place = {});
  /// In place on `root`; elsewhere the content is unspecified afterwards.
  void reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root, const OpName& name, Place place = {});
  void broadcast(void* data, std::size_t count, DataType type, int root, const OpName& name, Place place = {});
  /// `out` takes size() * count elements, rank after rank.
  void allgather(const void* in, std::size_t count, void* out, DataType type, const OpName& name, Place place = {});
  /// `counts[r]` elements from rank r, one after the other in `out`; counts must be the same on all ranks.
  void allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type, const OpName& name,
                  Place place = {});
  /// `in` holds size() blocks of `count` elements; `out` takes the sum (or other op) of all ranks' block rank().
  void reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, const OpName& name,
                      Place place = {});
  void send(const void* data, std::size_t count, DataType type, int peer, int tag, const OpName& name, Place place = {});
  void recv(void* data, std::size_t count, DataType type, int peer, int tag, const OpName& name, Place place = {});
  void barrier(const OpName& name);

  /// Host memory, zeros, from which collectives need not copy: registered with the backend where that exists. Any thread; local.
  /// Errors: std::bad_alloc, std::runtime_error with the reason.
  virtual std::shared_ptr<char> allocate(std::size_t bytes);

  /// A communicator over the same ranks for another thread; collective. `channel` is its line on the progress board.
  virtual std::unique_ptr<Communicator> duplicate(int channel) = 0;

  /// A communicator over some of the ranks, this one among them, in the order given; the ranks of a group give the same list, and every rank
  /// is in one. They must share memory. Collective over all ranks. Null on all of them where a group's ranks cannot reach each other's memory.
  virtual std::unique_ptr<Communicator> among(const std::vector<int>& ranks, double deadline);

  /// Whether there are ranks on its board that are not its own: they make the same operations, but of other lengths.
  void set_partial(bool partial) noexcept { partial_ = partial; }
  bool partial() const noexcept { return partial_; }

  /// Which ways of moving data to take from now on; the same on all ranks.
  virtual void tune(const Tuning&) {}

  /// Takes buffers on GPUs from now on, as the job has chosen; null: refuses them. To be given to duplicates too. Local.
  void use_devices(std::shared_ptr<Devices> devices);
  const std::shared_ptr<Devices>& devices() const noexcept { return devices_; }
  /// Makes the choice with the other ranks, unless it has been made; collective.
  void plan_devices();
  /// Who carries buffers on GPUs, connected; collective when called first. Throws where they are refused.
  DeviceTransport& device_transport();

  /// Whether the thread that owns this communicator waits for the result: a backend may then poll without pause.
  void set_urgent(bool urgent) noexcept;

  /// Where this communicator notes what it waits for; null: nowhere.
  void watch(ProgressBoard* board, int channel) noexcept;

  /// Compares every collective with those of the other ranks before it begins, at the cost of one more exchange; null: does not. The same
  /// on all ranks.
  void check(std::shared_ptr<CollectiveCheck> check) noexcept { check_ = std::move(check); }
  CollectiveCheck* check() const noexcept { return check_.get(); }

  /// Notes every operation in the trace, as of this track; null: does not.
  void trace(Trace* trace, int track) noexcept {
    trace_ = trace;
    track_ = track;
  }
  Trace* trace() const noexcept { return trace_; }

  /// Tells it how long operations take, which is not this rank's own work; null: does not. For the communicator of the program's thread.
  void meter(SpeedMeter* meter) noexcept { meter_ = meter; }

 protected:
  Communicator(int rank, int size, int local_rank);

  virtual void do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) = 0;
  virtual void do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) = 0;
  virtual void do_broadcast(void* data, std::size_t count, DataType type, int root) = 0;
  virtual void do_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) = 0;
  virtual void do_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) = 0;
  virtual void do_send(const void* data, std::size_t count, DataType type, int peer, int tag) = 0;
  virtual void do_recv(void* data, std::size_t count, DataType type, int peer, int tag) = 0;
  virtual void do_barrier() = 0;

  bool urgent() const noexcept;
  const char* current_op() const noexcept { return current_op_; }
  ProgressBoard* board() const noexcept { return board_; }

 private:
  class Watch;  // notes entry and exit of one operation
  class PeerWatch;
  class Traced;
  friend class DeviceTransport;  // reaches the other ranks through the host

  bool takes(const Place& place, const char* op, const OpName& name) const;
  DeviceTransport& connected_devices();
  void send_from_device(const void* data, std::size_t count, DataType type, int peer, int tag);
  void recv_on_device(void* data, std::size_t count, DataType type, int peer, int tag);

  int rank_, size_, local_rank_;
  int urgent_ = 0;
  ProgressBoard* board_ = nullptr;
  int channel_ = 0;
  const char* current_op_ = "";
  bool inside_ = false;  // of an operation
  bool partial_ = false;
  std::shared_ptr<CollectiveCheck> check_;
  Trace* trace_ = nullptr;
  int track_ = 0;
  SpeedMeter* meter_ = nullptr;
  std::uint64_t traced_ = 0;  // operations so far
  std::shared_ptr<Devices> devices_;
  std::unique_ptr<DeviceTransport> device_transport_;
};

}  // namespace hvd::dist
