// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/stream.hpp"

#include "device/cuda/check.hpp"

namespace hvd::backends::cuda {

namespace {

// Destructors report nothing: CUDA may be gone by then.
class SideStream final : public GpuStream {
 public:
  SideStream() {
    stream();  // binds this thread to its GPU
    int least = 0, greatest = 0;
    HVD_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    HVD_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
    for (cudaEvent_t& event : events_) HVD_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~SideStream() override {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
    cudaGetLastError();
  }

  void* handle() const override { return stream_; }
  void wait_for(const void* ready) override {
    stream();
    std::shared_ptr<void> now;
    if (!ready) {
      now = note_stream();
      ready = now.get();
    }
    // An event may be destroyed once the wait for it has been asked for.
    HVD_CUDA(cudaStreamWaitEvent(stream_, static_cast<cudaEvent_t>(const_cast<void*>(ready)), 0));
  }
  void copy(void* to, const void* from, size_t bytes) override { HVD_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_)); }
  uint64_t mark() override {
    HVD_CUDA(cudaEventRecord(event_of(marks_ + 1), stream_));
    return ++marks_;
  }
  // An event that a later mark has taken over is reached a little later, and by itself: it is on the stream.
  bool reached(uint64_t mark) override {
    const cudaError_t status = cudaEventQuery(event_of(mark));
    if (status == cudaSuccess) return true;
    if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
    cudaGetLastError();  // "not ready" stays behind as the last error otherwise
    return false;
  }
  void hold_computations() override { HVD_CUDA(cudaStreamWaitEvent(stream(), event_of(marks_), 0)); }

 private:
  cudaEvent_t event_of(uint64_t mark) const { return events_[mark % kEvents]; }

  static constexpr uint64_t kEvents = 32;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[kEvents] = {};
  uint64_t marks_ = 0;
};

}  // namespace

std::unique_ptr<GpuStream> make_side_stream() { return std::make_unique<SideStream>(); }

std::shared_ptr<void> pin_memory(void* memory, size_t bytes) {
  stream();
  if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return {memory, [](void* m) {
            cudaHostUnregister(m);
            cudaGetLastError();
          }};
}

std::shared_ptr<void> note_stream() {
  const cudaStream_t computations = stream();
  cudaEvent_t event = nullptr;
  HVD_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  std::shared_ptr<void> note(event, [](void* e) {
    cudaEventDestroy(static_cast<cudaEvent_t>(e));
    cudaGetLastError();
  });
  HVD_CUDA(cudaEventRecord(event, computations));
  return note;
}

}  // namespace hvd::backends::cuda
