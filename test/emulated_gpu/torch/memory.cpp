// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/torch/memory.hpp"

#include <c10/util/Exception.h>

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace emulated_torch {

namespace {

constexpr std::size_t kRegion = std::size_t{8} << 30, kUnit = 512;

/// One region for all GPUs; blocks are kept by their size.
struct Region {
  std::mutex mutex;
  char* start = nullptr;
  std::size_t taken = 0;
  std::map<std::size_t, std::vector<void*>> kept;
  int opens = 0;
  bool open = false;

  Region() {
    void* address = mmap(nullptr, kRegion, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(address != MAP_FAILED, "the emulated GPUs get no memory");
    start = static_cast<char*>(address);
  }
  void protect(bool opens_now) {
    open = opens_now;
    const std::size_t pages = (taken + 4095) / 4096 * 4096;
    if (pages > 0 && mprotect(start, pages, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) std::abort();
  }
};
Region& region() {
  static auto* const instance = new Region;  // tensors may outlive everything
  return *instance;
}

std::size_t block(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

struct Taken {
  void* address;
  std::size_t bytes;
};

void give_back(void* context) {
  auto* const taken = static_cast<Taken*>(context);
  {
    const std::lock_guard lock(region().mutex);
    region().kept[taken->bytes].push_back(taken->address);
  }
  delete taken;
}

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t n) const override {
    const c10::Device device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(current_device()));
    if (n == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, device};
    const std::size_t bytes = block(n);
    Region& r = region();
    const std::lock_guard lock(r.mutex);
    void* address = nullptr;
    if (auto& kept = r.kept[bytes]; !kept.empty()) {
      address = kept.back();
      kept.pop_back();
    } else {
      TORCH_CHECK(r.taken + bytes <= kRegion, "CUDA out of memory: the emulated GPUs have ", kRegion, " bytes");
      address = r.start + r.taken;
      r.taken += bytes;
      r.protect(r.opens > 0);
    }
    return {address, new Taken{address, bytes}, &give_back, device};
  }
};

struct Pinned {
  std::mutex mutex;
  std::map<const char*, std::size_t> blocks;
};
Pinned& pinned() {
  static auto* const instance = new Pinned;
  return *instance;
}

void unpin(void* address) {
  {
    const std::lock_guard lock(pinned().mutex);
    pinned().blocks.erase(static_cast<const char*>(address));
  }
  std::free(address);
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t n) const override {
    void* address = std::aligned_alloc(64, (n + 64) / 64 * 64);
    const std::lock_guard lock(pinned().mutex);
    pinned().blocks[static_cast<const char*>(address)] = n;
    return {address, address, &unpin, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
};

}  // namespace

int device_count() {
  const char* const text = std::getenv("HVD_EMULATED_GPUS");
  return text && std::atoi(text) > 0 ? std::atoi(text) : 4;
}

int& current_device() {
  static thread_local int device = 0;
  return device;
}

c10::Allocator& device_allocator() {
  static auto* const instance = new DeviceAllocator;
  return *instance;
}

c10::Allocator& pinned_allocator() {
  static auto* const instance = new PinnedAllocator;
  return *instance;
}

bool on_device(const void* address) {
  const char* const at = static_cast<const char*>(address);
  return at >= region().start && at < region().start + kRegion;
}

bool is_pinned(const void* address) {
  const std::lock_guard lock(pinned().mutex);
  const char* const at = static_cast<const char*>(address);
  auto next = pinned().blocks.upper_bound(at);
  if (next == pinned().blocks.begin()) return false;
  --next;
  return at < next->first + next->second;
}

void open_memory() {
  Region& r = region();
  const std::lock_guard lock(r.mutex);
  if (r.opens++ == 0 && !r.open) r.protect(true);
}

void close_memory() {
  Region& r = region();
  const std::lock_guard lock(r.mutex);
  if (--r.opens == 0) r.protect(false);
}

}  // namespace emulated_torch

// For the runtime's emulated GPU, whose streams copy from and to this memory too.
extern "C" void hvd_emulated_torch_open() { emulated_torch::open_memory(); }
extern "C" void hvd_emulated_torch_close() { emulated_torch::close_memory(); }
extern "C" bool hvd_emulated_torch_holds(const void* address) { return emulated_torch::on_device(address); }
