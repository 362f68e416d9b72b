// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/dispatch.hpp"
#include "device/onednn/blas_library.hpp"
#include "device/onednn/onednn.hpp"

#include <cblas.h>

#include <algorithm>

namespace hvd::backends {

namespace {

// Row lengths must be positive even where a matrix is empty.
int positive(int64_t length) { return static_cast<int>(std::max<int64_t>(length, 1)); }

void check_extent(int64_t a, int64_t b, int64_t c) {
  if (std::max({a, b, c}) > INT32_MAX) throw Error("matmul: an extent beyond 2^31 - 1");
}

}  // namespace

void OneDnn::gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const {
  check_extent(m, n, k);
  check_extent(lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const auto ta = transpose_a ? CblasTrans : CblasNoTrans;
  const auto tb = transpose_b ? CblasTrans : CblasNoTrans;
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
  if (dtype == Dtype::kFloat32)
    blas().sgemm(CblasRowMajor, ta, tb, rows, columns, inner, 1.0f, static_cast<const float*>(a), positive(lda),
                 static_cast<const float*>(b), positive(ldb), static_cast<float>(beta), static_cast<float*>(c), positive(ldc));
  else if (dtype == Dtype::kFloat64)
    blas().dgemm(CblasRowMajor, ta, tb, rows, columns, inner, 1.0, static_cast<const double*>(a), positive(lda),
                 static_cast<const double*>(b), positive(ldb), beta, static_cast<double*>(c), positive(ldc));
  else
    unsupported("matmul", dtype);
}

void set_library_threads(int threads) {
  blas().set_threads(threads);
  if (blas().set_openmp_threads) blas().set_openmp_threads(threads);
}
int library_threads() { return blas().get_threads(); }

}  // namespace hvd::backends
