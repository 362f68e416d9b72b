// SPDX-License-Identifier: Apache-2.0
//
// The device `cublas`: the runtime's own kernels, with cuBLAS for products.
#pragma once

#include "device/gpu/gpu.hpp"

namespace hvd::backends::cuda {

class Cublas : public gpu::Gpu {
 public:
  Allocator& allocator() const override;
  bool deterministic() const override;
  void read(void* host, const void* buffer, size_t bytes) const override;
  void write(void* buffer, const void* host, size_t bytes) const override;

  void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, const void* b,
            int64_t ldb, double beta, void* c, int64_t ldc) const override;
  void gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override;
  bool low_gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override;
};

}  // namespace hvd::backends::cuda
