// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/dispatch.hpp"
#include "device/onednn/blas_library.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/parallel.hpp"

#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <memory>

namespace hvd::backends {

namespace {

// Row lengths must be positive even where a matrix is empty.
int positive(int64_t length) { return static_cast<int>(std::max<int64_t>(length, 1)); }

void check_extent(int64_t a, int64_t b, int64_t c) {
  if (std::max({a, b, c}) > INT32_MAX) throw Error("matmul: an extent beyond 2^31 - 1");
}

/// Whether oneDNN's product is the quicker one, as measured on x86 processors with AVX2 and AVX-512: it packs its operands in less time, but
/// is behind where few numbers are long sums.
bool suits_onednn(int64_t m, int64_t n, int64_t k) {
#if defined(__x86_64__)
  return m * n * k >= int64_t{1} << 20 && k <= 4 * std::max(m, n);
#else
  return static_cast<void>(m), static_cast<void>(n), static_cast<void>(k), false;  // plain loops there
#endif
}

bool onednn_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb, double beta,
                 void* c, int64_t ldc) {
  return dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, static_cast<const float*>(a), lda, static_cast<const float*>(b), ldb,
                    static_cast<float>(beta), static_cast<float*>(c), ldc) == dnnl_success;
}

/// Whether the product of a few rows with a transposed matrix, y = a b^T, is quicker as y^T = b a^T with the few rows turned by hand. oneDNN copies
/// b's columns together either way, and those lie in the same sets of the cache where a row of b is a multiple of 2 KiB. Measured on AVX-512: twice
/// as quick for 32 rows of 1024 numbers, by a tenth for 64 of 512; slower for less than 16 rows.
bool suits_turning(int64_t m, int64_t n, int64_t k, int64_t ldb, double beta) {
  const bool rows_collide = ldb % 512 == 0;
  return blas().transpose && beta == 0 && k >= 256 && n >= 2 * m && m >= 16 && m <= (rows_collide ? 128 : 32);
}

bool turned_gemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  const auto turn = [](int64_t rows, int64_t columns, const float* from, int64_t from_row, float* to, int64_t to_row) {
    blas().transpose(CblasRowMajor, CblasTrans, static_cast<int>(rows), static_cast<int>(columns), 1.0f, from, static_cast<int>(from_row), to,
                     static_cast<int>(to_row));
  };
  const auto a_turned = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(m * k));
  const auto c_turned = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(n * m));
  turn(m, k, a, lda, a_turned.get(), m);
  if (!onednn_gemm(false, false, n, m, k, b, ldb, a_turned.get(), m, 0, c_turned.get(), m)) return false;
  turn(n, m, c_turned.get(), m, c, ldc);
  return true;
}

bool float_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, double beta,
                float* c, int64_t ldc) {
  if (!suits_onednn(m, n, k)) return false;
  if (!transpose_a && transpose_b && suits_turning(m, n, k, ldb, beta) && turned_gemm(m, n, k, a, lda, b, ldb, c, ldc)) return true;
  return onednn_gemm(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

void OneDnn::gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const {
  check_extent(m, n, k);
  check_extent(lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  if (dtype == Dtype::kFloat32 &&
      float_gemm(transpose_a, transpose_b, m, n, k, static_cast<const float*>(a), lda, static_cast<const float*>(b), ldb, beta, static_cast<float*>(c), ldc))
    return;
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

// Products that are large use the threads each; of small ones each thread takes some.
void OneDnn::gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                        const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  const bool small = m * n * k < int64_t{1} << 22;
  if (dtype != Dtype::kFloat32 || !small || m == 0 || n == 0 || k == 0)
    return Cpu::gemm_batch(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride);
  check_extent(m, n, k);
  check_extent(lda, ldb, ldc);
  parallel_for(count, m * n * k / 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      gemm(dtype, transpose_a, transpose_b, m, n, k, static_cast<const float*>(a) + i * stride.a, lda, static_cast<const float*>(b) + i * stride.b, ldb, 0,
           static_cast<float*>(c) + i * stride.c, ldc);
  });
}

void set_library_threads(int threads) {
  blas().set_threads(threads);
  if (blas().set_openmp_threads) blas().set_openmp_threads(threads);
}
int library_threads() { return blas().get_threads(); }

}  // namespace hvd::backends
