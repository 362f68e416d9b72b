// SPDX-License-Identifier: Apache-2.0
//
// The default device on the host: products by BLAS, float32 convolutions by oneDNN, float64 ones by BLAS over unfolded
// images; bfloat16 by oneDNN; the rest as on the reference device.
#pragma once

#include "device/cpu/cpu.hpp"

namespace hvd::backends {

class OneDnn : public Cpu {
 public:
  void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
            const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const override;
  void conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  void conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  void conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  // bfloat16, on processors that multiply it
  bool low_gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override;
  bool low_conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  bool low_conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  bool low_conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  void max_pool2d(Dtype dtype, const Window2d& window, const void* x, void* y, int32_t* indices) const override;
};

/// Threads of BLAS and oneDNN.
void set_library_threads(int threads);
int library_threads();

}  // namespace hvd::backends
