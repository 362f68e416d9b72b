// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/memory.hpp"

#include "device/gpu/host_run.hpp"
#include "test/emulated_gpu/stream.hpp"

#include <hvd/core/error.hpp>

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>
#include <mutex>

namespace emulated {

namespace {

/// The one region, and how many kernels of all threads run on it.
struct Region {
  std::mutex mutex;
  char* start = nullptr;
  size_t bytes = 0;
  int runs = 0;
  bool open = false;
  unsigned long closings = 0;

  void protect(bool opens) {
    open = opens;
    if (start && mprotect(start, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) std::abort();
  }
  // Finite differences run millions of kernels, and closing takes longer than a small one: after the first twenty thousand, memory is
  // closed behind every 64th. Each operation is run hundreds of times.
  bool closes() { return ++closings < 20000 || closings % 64 == 0; }
};

Region& region() {
  static Region instance;
  return instance;
}

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes) : bytes_(bytes) {
  void* address = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw hvd::Error("the emulated GPU gets no memory");
  start_ = static_cast<char*>(address);
  const std::lock_guard lock(region().mutex);
  region().start = start_;
  region().bytes = 0;  // what has been handed out
}

GuardedMemory::~GuardedMemory() {
  const std::lock_guard lock(region().mutex);
  munmap(start_, bytes_);
  region().start = nullptr;
}

// Blocks come one behind the other and are not reused: the caching allocator does that.
void* GuardedMemory::get(size_t bytes) {
  const size_t whole = (bytes + 4095) / 4096 * 4096;
  if (taken_ + whole > bytes_) return nullptr;
  const std::lock_guard lock(region().mutex);
  char* address = start_ + taken_;
  taken_ += whole;
  region().bytes = taken_;
  region().protect(region().runs > 0);
  return address;
}

void GuardedMemory::give_back(void* address, size_t bytes) noexcept { madvise(address, bytes / 4096 * 4096, MADV_DONTNEED); }

size_t GuardedMemory::free_bytes(size_t& total) const {
  total = bytes_;
  return bytes_ - taken_;
}

// LibTorch's emulated GPUs have memory of their own (torch/memory.cpp); in a program that has both, buffers may lie in either.
namespace {
struct OtherMemory {
  void (*open)() = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "hvd_emulated_torch_open"));
  void (*close)() = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "hvd_emulated_torch_close"));
  bool (*holds)(const void*) = reinterpret_cast<bool (*)(const void*)>(dlsym(RTLD_DEFAULT, "hvd_emulated_torch_holds"));
};
const OtherMemory& other_memory() {
  static const OtherMemory instance;
  return instance;
}
}  // namespace

void open_memory() {
  if (other_memory().open) other_memory().open();
  const std::lock_guard lock(region().mutex);
  if (region().runs++ == 0 && !region().open) region().protect(true);
}
void close_memory() {
  if (other_memory().close) other_memory().close();
  const std::lock_guard lock(region().mutex);
  if (--region().runs == 0 && region().closes()) region().protect(false);
}

bool is_device_memory(const void* data, size_t bytes) {
  if (other_memory().holds && other_memory().holds(data)) return true;
  const std::lock_guard lock(region().mutex);
  const char* const at = static_cast<const char*>(data);
  return region().start && at >= region().start && at + bytes <= region().start + region().bytes;
}

}  // namespace emulated

namespace hvd::backends::gpu {

HostRun::HostRun() {
  emulated::pass_holds();
  emulated::open_memory();
}
HostRun::~HostRun() { emulated::close_memory(); }

}  // namespace hvd::backends::gpu
