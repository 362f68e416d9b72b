// SPDX-License-Identifier: Apache-2.0
#pragma once

// The emulated GPU's streams. Computations run at once, in the thread that asks for them; a stream of communication is a queue with a thread of
// its own, so that what does not wait for it is too early.

#include "device/gpu_library.hpp"

#include <hvd/dist/session.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>

namespace emulated {

/// GpuStream::handle(), as libraries of communication see it.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void enqueue(std::function<void()> work) = 0;
  /// Whether the stream has been told to wait for computations since this was last asked.
  virtual bool waits_for_computations() = 0;
  /// Whether the memory is the device's; and copies from and to it, for the work of the queue.
  virtual bool on_device(const void* data, std::size_t bytes) const = 0;
  virtual void copy_now(void* to, const void* from, std::size_t bytes) = 0;
};

std::unique_ptr<hvd::backends::GpuStream> make_stream();
/// Until the marks that computations have been told to wait for are reached.
void pass_holds();

/// Number of this rank's GPU: HVD_EMULATED_GPUS of them are on this host, by default as many as ranks.
inline int device_number() {
  const char* const gpus = std::getenv("HVD_EMULATED_GPUS");
  return gpus && std::atoi(gpus) > 0 ? hvd::local_rank() % std::atoi(gpus) : hvd::local_rank();
}

}  // namespace emulated
