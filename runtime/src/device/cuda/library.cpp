// SPDX-License-Identifier: Apache-2.0
//
// The library's entry point: devices and memory of CUDA.
#include "device/cuda/binding.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cublas.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/nccl.hpp"
#include "device/cuda/recording.hpp"
#include "device/cuda/stream.hpp"
#include "device/gpu_library.hpp"
#ifdef HVD_HAVE_CUDNN
#include "device/cudnn/cudnn.hpp"
#endif

#include <unistd.h>

#include <fstream>
#include <string>

namespace hvd::backends::cuda {

namespace {

/// Names need not differ between hosts; what each drew when it started does, and its containers share it.
std::string host_identity() {
  std::string id;
  if (std::ifstream("/proc/sys/kernel/random/boot_id") >> id) return id;
  char name[64] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

class Library final : public GpuLibrary {
 public:
  Library() { count_devices(problem_); }
  std::string problem() const override { return problem_; }

  const Backend* backend(DeviceType type) const override {
    if (type == DeviceType::kCublas) return &cublas_;
#ifdef HVD_HAVE_CUDNN
    if (type == DeviceType::kCudnn) return &cudnn_;
#endif
    return nullptr;
  }

  Allocator& allocator(MemoryKind kind) const override { return memory_of(kind); }
  DeviceMemoryUse memory_use(MemoryKind kind) const override { return memory_of(kind).use(); }
  void reset_peak_memory() const override {
    for (const MemoryKind kind : {MemoryKind::kPinned, MemoryKind::kManaged, MemoryKind::kDevice}) memory_of(kind).reset_peak();
  }
  uint64_t waits() const override {
#ifdef HVD_HAVE_CUDNN
    return cublas_.waits() + cudnn_.waits();
#else
    return cublas_.waits();
#endif
  }
  void synchronize() const override { HVD_CUDA(cudaStreamSynchronize(stream())); }

  int device() const override { return bound_device(); }
  std::string identity() const override {
    char bus[32] = "";
    HVD_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, bound_device()));
    return host_identity() + " " + bus;
  }
  std::unique_ptr<GpuStream> make_stream() const override { return make_side_stream(); }
  std::shared_ptr<void> pin(void* memory, size_t bytes) const override { return pin_memory(memory, bytes); }
  std::shared_ptr<void> note_computations() const override { return note_stream(); }
  std::unique_ptr<GpuRecording> make_recording() const override { return make_graphs(); }
  void* open_nccl(std::string& why) const override { return load_nccl(why); }

  std::string describe() const override {
    if (!problem_.empty()) return problem_;
    stream();
    cudaDeviceProp device{};
    HVD_CUDA(cudaGetDeviceProperties(&device, bound_device()));
    int driver = 0, runtime = 0, cublas = 0;
    HVD_CUDA(cudaDriverGetVersion(&driver));
    HVD_CUDA(cudaRuntimeGetVersion(&runtime));
    HVD_CUDA(cublasGetProperty(MAJOR_VERSION, &cublas));
    std::string text = std::string(device.name) + ", compute capability " + std::to_string(device.major) + "." + std::to_string(device.minor) +
                       ", " + std::to_string(device.totalGlobalMem >> 20) + " MiB, driver for CUDA " + version(driver) + ", runtime " +
                       version(runtime) + ", cuBLAS " + std::to_string(cublas);
#ifdef HVD_HAVE_CUDNN
    text += ", cuDNN " + cudnn_version();
#endif
    return text;
  }

 private:
  std::string problem_;
  Cublas cublas_;
#ifdef HVD_HAVE_CUDNN
  Cudnn cudnn_;
#endif
};

}  // namespace
}  // namespace hvd::backends::cuda

extern "C" const hvd::backends::GpuLibrary* hvd_gpu_library() {
  static const auto* const library = new hvd::backends::cuda::Library;
  return library;
}
