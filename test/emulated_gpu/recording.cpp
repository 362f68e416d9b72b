// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/recording.hpp"

#include "device/gpu/host_run.hpp"
#include "test/emulated_gpu/memory.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace emulated {

namespace {

class Recording final : public hvd::backends::GpuRecording {
 public:
  explicit Recording(hvd::backends::CachingAllocator& allocator) : allocator_(allocator) {}
  ~Recording() override { allocator_.dissolve(memory_); }

  void open() override {
    allocator_.record_into(&memory_);
    pieces_.emplace_back();
    hvd::context().gpu_recording = this;
  }
  size_t close() override {
    leave();
    return pieces_.size() - 1;
  }
  void drop() noexcept override {
    leave();
    pieces_.pop_back();
  }
  void run(size_t piece) override {
    for (const auto& work : pieces_.at(piece)) work();
  }
  void copy_constant(void* buffer, const void* host, size_t bytes) override {
    add([buffer, values = std::string(static_cast<const char*>(host), bytes)] {
      const OpenMemory open;
      std::memcpy(buffer, values.data(), values.size());
    });
  }
  bool owns(const void* address) const override { return memory_.owns(address); }

  void add(std::function<void()> work) { pieces_.back().push_back(std::move(work)); }

 private:
  void leave() {
    hvd::context().gpu_recording = nullptr;
    allocator_.record_into(nullptr);
  }

  hvd::backends::CachingAllocator& allocator_;
  hvd::backends::RecordedMemory memory_;
  std::vector<std::vector<std::function<void()>>> pieces_;
};

}  // namespace

std::unique_ptr<hvd::backends::GpuRecording> make_recording(hvd::backends::CachingAllocator& allocator) { return std::make_unique<Recording>(allocator); }

}  // namespace emulated

namespace hvd::backends::gpu {

bool noting() { return context().gpu_recording != nullptr; }
void note(std::function<void()> work) { static_cast<emulated::Recording*>(context().gpu_recording)->add(std::move(work)); }

}  // namespace hvd::backends::gpu
