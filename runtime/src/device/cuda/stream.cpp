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
    HVD_CUDA(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming));
  }
  ~SideStream() override {
    cudaEventDestroy(mark_);
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
  void mark() override { HVD_CUDA(cudaEventRecord(mark_, stream_)); }
  bool reached() override {
    const cudaError_t status = cudaEventQuery(mark_);
    if (status == cudaSuccess) return true;
    if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
    cudaGetLastError();  // "not ready" stays behind as the last error otherwise
    return false;
  }
  void hold_computations() override { HVD_CUDA(cudaStreamWaitEvent(stream(), mark_, 0)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t mark_ = nullptr;
};

}  // namespace

std::unique_ptr<GpuStream> make_side_stream() { return std::make_unique<SideStream>(); }

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
