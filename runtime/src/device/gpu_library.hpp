// SPDX-License-Identifier: Apache-2.0
//
// The devices `cublas` and `cudnn` live in a library of their own, libhvd_cuda.so, which is loaded when one of them is first asked
// for: programs that use no GPU load none of CUDA's libraries, and start on machines that have none. The environment variable
// HVD_CUDA_LIBRARY names another library with the same entry point (the tests bring one that emulates a GPU on the host).
#pragma once

#include "device/device.hpp"

#include <hvd/device.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvd::backends {

/// A queue of work on the GPU beside that of the computations, of higher priority: communication. Used by one thread at a time. What goes wrong
/// on the GPU is thrown as hvd::Error.
class GpuStream {
 public:
  virtual ~GpuStream() = default;
  /// What NCCL takes: a cudaStream_t.
  virtual void* handle() const = 0;
  /// Work put here from now on waits for `ready`, an event of GpuLibrary::note_computations(); null: for all computations asked for so far.
  virtual void wait_for(const void* ready) = 0;
  /// Between the GPU and memory of the host, which should be pinned: the host then does not wait.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  /// Notes the end of the work that has been put here, and gives the number of this note.
  virtual uint64_t mark() = 0;
  /// Whether the work before that mark is done. Does not wait.
  virtual bool reached(uint64_t mark) = 0;
  /// Computations asked for from now on wait for the last mark.
  virtual void hold_computations() = 0;
};

/// Work for the computations' queue that is noted once, in pieces, and run whenever it is wanted (CUDA graphs). While a piece is open, what its
/// thread asks of the GPU is noted and does not run; memory that the thread allocates meanwhile belongs to the recording until it is destroyed, so
/// that its work finds it whenever it runs. Numbers that the host passes by value are noted as they are.
class GpuRecording {
 public:
  virtual ~GpuRecording() = default;
  /// Opens a piece on this thread; throws hvd::Error where another recording is open.
  virtual void open() = 0;
  /// Closes it, and gives its number.
  virtual size_t close() = 0;
  /// Closes it and forgets it. For what has thrown.
  virtual void drop() noexcept = 0;
  /// Puts the work of a piece on the queue.
  virtual void run(size_t piece) = 0;
  /// The open piece copies these bytes of the host, as they are now, to a buffer.
  virtual void copy_constant(void* buffer, const void* host, size_t bytes) = 0;
  /// Whether the address lies in memory that belongs to this recording.
  virtual bool owns(const void* address) const = 0;
  /// To be called each time before the pieces run.
  void before_run(std::function<void()> f) { before_run_.push_back(std::move(f)); }
  void begin_run() const {
    for (const auto& f : before_run_) f();
  }

 private:
  std::vector<std::function<void()>> before_run_;
};

class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;
  /// Why no GPU can be used; empty when one can.
  virtual std::string problem() const = 0;
  /// Null when the library lacks the device.
  virtual const Backend* backend(DeviceType type) const = 0;
  virtual Allocator& allocator(MemoryKind kind) const = 0;
  virtual DeviceMemoryUse memory_use(MemoryKind kind) const = 0;
  virtual void reset_peak_memory() const = 0;
  virtual void synchronize() const = 0;
  /// See hvd::device_waits().
  virtual uint64_t waits() const = 0;
  /// Number of this process' GPU.
  virtual int device() const = 0;
  /// Which GPU that is, as no other one of any host is called.
  virtual std::string identity() const = 0;
  virtual std::unique_ptr<GpuStream> make_stream() const = 0;
  /// Locks memory of the host, for the time that the result lives, so that the GPU copies from and to it by itself; null where that is refused.
  virtual std::shared_ptr<void> pin(void* memory, size_t bytes) const = 0;
  /// An event: the computations that have been asked for so far are done.
  virtual std::shared_ptr<void> note_computations() const = 0;
  virtual std::unique_ptr<GpuRecording> make_recording() const = 0;
  /// NCCL, as dlopen gives it; null with the reason in `why`.
  virtual void* open_nccl(std::string& why) const = 0;
  /// Name, versions of driver and libraries: one line for reports.
  virtual std::string describe() const = 0;
};

/// The library, loaded at the first call; null when it cannot be had.
const GpuLibrary* gpu_library();
/// The library of a machine with a GPU; throws hvd::Error saying what is missing.
const GpuLibrary& require_gpu();
/// Why there is no GPU to use, or an empty text.
std::string gpu_problem();

}  // namespace hvd::backends

/// What such a library exports. It lives as long as the process.
extern "C" const hvd::backends::GpuLibrary* hvd_gpu_library();
