// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/allocator.hpp>
#include <hvd/core/slice.hpp>
#include <hvd/core/types.hpp>
#include <hvd/random.hpp>

#include <cstddef>
#include <cstdint>

namespace hvd {

namespace autograd {
class BackwardObserver;
}
namespace backends {
class GpuRecording;
}
namespace core {
class StepRecording;
}

/// Adds up statistics of a batch over ranks (batch norm over the global batch). The distributed layer provides it.
class StatisticsReducer {
 public:
  virtual ~StatisticsReducer() = default;
  /// Replaces values[0..count) by their sums over ranks. Collective: all ranks call it in the same order; `name` says for whom.
  virtual void all_reduce_sum(double* values, size_t count, const char* name) = 0;
};

/// All mutable state of the training core outside of tensors. There is one per thread, because a rank may be a thread of a
/// process: nothing else in the core is mutable and global. A worker thread that makes tensors for a rank starts with
/// `ContextSettings`, see below.
struct Context {
  Generator generator;
  Dtype default_dtype = Dtype::kFloat32;
  Device default_device;
  /// Where tensors of CUDA devices lie.
  MemoryKind device_memory = MemoryKind::kDevice;
  /// CUDA devices: sums in a fixed order and algorithms that keep one; the same seed gives the same bits.
  bool deterministic = false;
  /// CUDA devices: products and convolutions of float32 with 10 bits of fraction (TF32).
  bool tf32 = false;
  bool grad_enabled = true;
  /// Set on threads of which several work side by side, such as those that load batches: loops over elements stay on them.
  bool one_thread = false;
  /// Elements of a new tensor at most: bounded while sizes come from a file.
  int64_t largest_tensor = INT64_MAX;
  /// Set by amp::AutocastGuard.
  bool autocast = false;
  Dtype autocast_dtype = Dtype::kBFloat16;
  /// Set by amp::GradScaler: gradients that are not finite are its business.
  bool loss_scaled = false;
  /// The slice of the step that is running; null outside of steps and in sequential programs.
  const Slice* current_slice = nullptr;
  /// Set while batch norms that train inside a step take their statistics over all ranks; else null.
  StatisticsReducer* statistics_reducer = nullptr;
  /// Weight of leaf gradients, see autograd::BackwardWeight.
  double backward_weight = 1;
  autograd::BackwardObserver* backward_observer = nullptr;
  uint64_t backward_generation = 0;
  /// What hvd::StepGraph notes of the step that this thread runs, and what of it the GPU is to do; null: nothing is noted.
  core::StepRecording* step_recording = nullptr;
  backends::GpuRecording* gpu_recording = nullptr;
  /// Number of the next graph node: later operations have larger ones, which fixes the order of backward.
  uint64_t next_node = 0;

  Context();
};

/// This thread's context.
Context& context();

/// What a thread hands to threads that work for it: default dtype and device, no random state. Threads that work for one whose default
/// device is a GPU make their tensors on the host.
class ContextSettings {
 public:
  ContextSettings();  // from the calling thread
  void apply() const;  // to the calling thread

 private:
  Dtype dtype_;
  Device device_;
};

void set_default_dtype(Dtype dtype);  // floating-point dtypes only
Dtype default_dtype();
void set_default_device(Device device);
Device default_device();
/// Memory of tensors that are made on CUDA devices from now on; kMalloc is none of theirs.
void set_device_memory(MemoryKind kind);
void set_deterministic(bool value);
void set_tf32(bool value);
/// Threads of one operation: of BLAS in the whole process, which keeps one pool, and of oneDNN in the calling thread.
void set_num_threads(int threads);
int num_threads();
bool grad_enabled();
const Slice* current_slice();

}  // namespace hvd
