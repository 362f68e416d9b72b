// SPDX-License-Identifier: Apache-2.0
//
// Functions that run on the host and in kernels.
#pragma once

#ifdef __CUDACC__
#define HVD_HD __host__ __device__
#else
#define HVD_HD
#endif

namespace hvd::backends {

/// Product and sum, each rounded by itself: the compiler for GPUs would join them, and the last bit would differ from the host's.
HVD_HD inline double times(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
HVD_HD inline double plus(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

}  // namespace hvd::backends
