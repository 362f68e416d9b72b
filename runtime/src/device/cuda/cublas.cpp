// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cublas.hpp"

#include "device/cpu/dispatch.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/memory.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <mutex>

namespace hvd::backends::cuda {

namespace {

/// cuBLAS's handle, and who uses it now: its settings are changed between calls.
struct Handle {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;

  Handle() {
    stream();
    HVD_CUDA(cublasCreate(&handle));
    HVD_CUDA(cublasSetStream(handle, stream()));
    // Own memory for its intermediate results: the same choice, and the same bits, in every run.
    constexpr size_t kWorkspace = size_t{32} << 20;
    HVD_CUDA(cublasSetWorkspace(handle, memory_of(MemoryKind::kDevice).allocate(kWorkspace), kWorkspace));
  }
};
Handle& handle() {
  static auto* const instance = new Handle;
  return *instance;
}

cudaDataType_t data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return CUDA_R_32F;
    case Dtype::kFloat64: return CUDA_R_64F;
    case Dtype::kBFloat16: return CUDA_R_16BF;
    case Dtype::kFloat16: return CUDA_R_16F;
    default: unsupported("matmul", dtype);
  }
}

/// 16-bit numbers are multiplied by tensor cores and summed in float32.
cublasComputeType_t compute_type(Dtype dtype) {
  if (dtype == Dtype::kFloat64) return CUBLAS_COMPUTE_64F;
  return dtype == Dtype::kFloat32 && context().tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

struct Product {
  Dtype dtype;
  bool transpose_a, transpose_b;
  int64_t count, m, n, k;
  const void* a;
  int64_t lda;
  const void* b;
  int64_t ldb;
  double beta;
  void* c;
  int64_t ldc;
  BatchStride stride;
};

/// cuBLAS counts by columns: what it sees of row-major A, B and C are their transposes, and C^T = op(B)^T op(A)^T.
void multiply(const Product& p) {
  const float alpha_single = 1, beta_single = static_cast<float>(p.beta);
  const double alpha_double = 1, beta_double = p.beta;
  const bool wide = p.dtype == Dtype::kFloat64;
  const void* alpha = wide ? static_cast<const void*>(&alpha_double) : &alpha_single;
  const void* beta = wide ? static_cast<const void*>(&beta_double) : &beta_single;
  const cudaDataType_t type = data_type(p.dtype);
  const auto op = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto length = [](int64_t l) { return std::max<int64_t>(l, 1); };  // also where a matrix is empty
  Handle& h = handle();
  const std::lock_guard lock(h.mutex);
  stream();  // binds this thread to its GPU
  HVD_CUDA(cublasGemmStridedBatchedEx_64(h.handle, op(p.transpose_b), op(p.transpose_a), p.n, p.m, p.k, alpha, p.b, type, length(p.ldb), p.stride.b,
                                         p.a, type, length(p.lda), p.stride.a, beta, p.c, type, length(p.ldc), p.stride.c, p.count,
                                         compute_type(p.dtype), CUBLAS_GEMM_DEFAULT));
}

}  // namespace

Allocator& Cublas::allocator() const { return memory_of(context().device_memory); }
bool Cublas::deterministic() const { return context().deterministic; }
void Cublas::read(void* host, const void* buffer, size_t bytes) const { copy_to_host(host, buffer, bytes); }
void Cublas::write(void* buffer, const void* host, size_t bytes) const { copy_to_device(buffer, host, bytes); }

void Cublas::gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, const void* b,
                  int64_t ldb, double beta, void* c, int64_t ldc) const {
  if (m == 0 || n == 0) return;
  multiply({dtype, transpose_a, transpose_b, 1, m, n, k, a, lda, b, ldb, beta, c, ldc, {0, 0, 0}});
}

void Cublas::gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a,
                        int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  if (count == 0 || m == 0 || n == 0) return;
  multiply({dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, 0, c, ldc, stride});
}

bool Cublas::low_gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                      const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  gemm_batch(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride);
  return true;
}

}  // namespace hvd::backends::cuda
