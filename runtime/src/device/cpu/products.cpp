// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

namespace hvd::backends {

namespace {

/// Sums run in float64, in the order of k.
template <class T>
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, double beta, T* c,
             int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double total = beta == 0 ? 0 : beta * static_cast<double>(c[i * ldc + j]);
      for (int64_t l = 0; l < k; ++l) {
        const T x = ta ? a[l * lda + i] : a[i * lda + l];
        const T y = tb ? b[j * ldb + l] : b[l * ldb + j];
        total += static_cast<double>(x) * static_cast<double>(y);
      }
      c[i * ldc + j] = static_cast<T>(total);
    }
}

}  // namespace

void Cpu::gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
               const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const {
  dispatch_real("matmul", dtype, [&](auto zero) {
    using T = decltype(zero);
    product(transpose_a, transpose_b, m, n, k, static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, beta, static_cast<T*>(c), ldc);
  });
}

void Cpu::gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                     const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  const int64_t size = static_cast<int64_t>(dtype_size(dtype));
  for (int64_t i = 0; i < count; ++i)
    gemm(dtype, transpose_a, transpose_b, m, n, k, static_cast<const char*>(a) + i * stride.a * size, lda,
         static_cast<const char*>(b) + i * stride.b * size, ldb, 0, static_cast<char*>(c) + i * stride.c * size, ldc);
}

}  // namespace hvd::backends
