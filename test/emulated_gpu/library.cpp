// SPDX-License-Identifier: Apache-2.0
//
// A library of GPU devices without a GPU: the runtime's own kernels (runtime/src/device/gpu), run on the host, with products as the
// reference device has them. Tests name it in HVD_CUDA_LIBRARY; device `cublas` then is this one.
#include "device/cpu/cpu.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/host_run.hpp"
#include "device/gpu_library.hpp"
#include "test/emulated_gpu/attention.hpp"
#include "test/emulated_gpu/memory.hpp"
#include "test/emulated_gpu/recording.hpp"
#include "test/emulated_gpu/stream.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/core/float16.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace emulated {

namespace {

using hvd::Dtype;
using hvd::backends::BatchStride;
using hvd::backends::gpu::HostRun;
using hvd::backends::gpu::run_on_host;

constexpr size_t kMemory = size_t{4} << 30;

struct Memory {
  GuardedMemory raw{kMemory};
  hvd::backends::CachingAllocator allocator{raw};
};
// Never destroyed: tensors may outlive everything.
Memory& memory() {
  static auto* const instance = new Memory;
  return *instance;
}

/// op(A) op(B) of 16-bit numbers, summed in float64 and rounded once.
template <class T>
void low_product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (int64_t l = 0; l < k; ++l)
        total += static_cast<double>(float(ta ? a[l * lda + i] : a[i * lda + l])) * static_cast<double>(float(tb ? b[j * ldb + l] : b[l * ldb + j]));
      c[i * ldc + j] = T(static_cast<float>(total));
    }
}

class Device final : public hvd::backends::gpu::Gpu {
 public:
  hvd::Allocator& allocator() const override { return memory().allocator; }
  bool deterministic() const override { return hvd::context().deterministic; }
  void read(void* host, const void* buffer, size_t bytes) const override {
    const HostRun run;
    if (bytes) std::memcpy(host, buffer, bytes);
  }
  void write(void* buffer, const void* host, size_t bytes) const override {
    const HostRun run;
    std::memcpy(buffer, host, bytes);
  }
  // A few images at a time, so that tests see the seams.
  size_t unfold_bytes() const override { return 4096; }

  void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, const void* b,
            int64_t ldb, double beta, void* c, int64_t ldc) const override {
    run_on_host([=, this] { reference_.gemm(dtype, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc); });
  }
  void gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override {
    run_on_host([=, this] { reference_.gemm_batch(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride); });
  }
  bool low_gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override {
    const auto all = [=](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < count; ++i)
        low_product(transpose_a, transpose_b, m, n, k, static_cast<const T*>(a) + i * stride.a, lda, static_cast<const T*>(b) + i * stride.b, ldb,
                    static_cast<T*>(c) + i * stride.c, ldc);
    };
    run_on_host([=] { dtype == Dtype::kBFloat16 ? all(hvd::BFloat16{}) : all(hvd::Half{}); });
    return true;
  }

  // Heads of an even number of features only: tests see both ways.
  bool has_attention() const override { return true; }
  bool attention(Dtype dtype, const hvd::backends::Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out,
                 float* statistics) const override {
    if (shape.width % 2 != 0) return false;
    run_on_host([=] { emulated::attention(dtype, shape, q, k, v, mask, out, statistics); });
    return true;
  }
  bool attention_grad(Dtype dtype, const hvd::backends::Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask,
                      const void* out, const float* statistics, void* grad_q, void* grad_k, void* grad_v) const override {
    run_on_host([=] { emulated::attention_grad(dtype, shape, grad, q, k, v, mask, out, statistics, grad_q, grad_k, grad_v); });
    return true;
  }

 private:
  hvd::backends::Cpu reference_;
};

/// The emulation that lies beside this library, or HVD_NCCL_LIBRARY; HVD_EMULATED_NCCL=none: there is none.
void* load_nccl(std::string& why) {
  const char* const mode = std::getenv("HVD_EMULATED_NCCL");
  Dl_info here;
  if ((mode && std::strcmp(mode, "none") == 0) || !dladdr(reinterpret_cast<const void*>(&load_nccl), &here)) {
    why = "NCCL cannot be loaded: the emulated GPU is to have none";
    return nullptr;
  }
  const char* const named = std::getenv("HVD_NCCL_LIBRARY");
  const auto path = named ? std::filesystem::path(named) : std::filesystem::path(here.dli_fname).parent_path() / "libhvd_emulated_nccl.so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) why = std::string("NCCL cannot be loaded: ") + dlerror();
  return library;
}

class Library final : public hvd::backends::GpuLibrary {
 public:
  std::string problem() const override { return {}; }
  const hvd::backends::Backend* backend(hvd::DeviceType type) const override { return type == hvd::DeviceType::kCublas ? &device_ : nullptr; }
  hvd::Allocator& allocator(hvd::MemoryKind) const override { return memory().allocator; }
  hvd::DeviceMemoryUse memory_use(hvd::MemoryKind kind) const override {
    return kind == hvd::MemoryKind::kDevice ? memory().allocator.use() : hvd::DeviceMemoryUse{};
  }
  void reset_peak_memory() const override { memory().allocator.reset_peak(); }
  uint64_t waits() const override { return device_.waits(); }
  void synchronize() const override {}
  int device() const override { return device_number(); }
  std::string identity() const override { return "emulated " + std::to_string(device_number()); }
  std::unique_ptr<hvd::backends::GpuStream> make_stream() const override { return emulated::make_stream(); }
  std::shared_ptr<void> pin(void* memory, size_t) const override { return {memory, [](void*) {}}; }
  // Computations have run by the time that they can be noted.
  std::shared_ptr<void> note_computations() const override { return nullptr; }
  std::unique_ptr<hvd::backends::GpuRecording> make_recording() const override { return emulated::make_recording(memory().allocator); }
  void* open_nccl(std::string& why) const override { return load_nccl(why); }
  std::string describe() const override { return "emulated GPU"; }

 private:
  Device device_;
};

}  // namespace
}  // namespace emulated

// For the emulation of a CUDA-aware MPI (mpi/).
extern "C" void hvd_emulated_open() { emulated::open_memory(); }
extern "C" void hvd_emulated_close() { emulated::close_memory(); }

extern "C" const hvd::backends::GpuLibrary* hvd_gpu_library() {
  static const emulated::Library library;
  return &library;
}
