// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hvd::backends {

/// The functions of OpenBLAS that are used, with the C interface's types (enumerations as int).
struct BlasLibrary {
  void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc);
  void (*dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                int ldb, double beta, double* c, int ldc);
  /// b[j, i] = alpha a[i, j] of a rows x columns matrix; null where the library lacks it.
  void (*transpose)(int order, int transpose, int rows, int columns, float alpha, const float* a, int lda, float* b, int ldb);
  void (*set_threads)(int threads);
  int (*get_threads)();
  void (*set_openmp_threads)(int threads);  // of the OpenMP that oneDNN runs on; null when it has none
};

/// OpenBLAS, loaded when the process starts. It is loaded and not linked, because a release that is older than the processor
/// takes its kernels for SSE3, five times slower than need be: then it is loaded again and told which ones to take
/// (unless OPENBLAS_CORETYPE is set). Throws hvd::Error when there is no OpenBLAS.
const BlasLibrary& blas();

}  // namespace hvd::backends
