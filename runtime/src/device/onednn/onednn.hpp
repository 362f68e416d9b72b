// SPDX-License-Identifier: Apache-2.0
//
// The default device on the host: products by BLAS and oneDNN, float32 convolutions by oneDNN, float64 ones by BLAS over unfolded
// images; bfloat16 by oneDNN. What else a training step spends time in runs on the threads of oneDNN, with kernels for float32 (kernels.hpp);
// the rest is as on the reference device. No result depends on the number of threads but those of the libraries.
#pragma once

#include "device/cpu/cpu.hpp"

namespace hvd::backends {

class OneDnn : public Cpu {
 public:
  void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
            const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const override;
  void gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override;
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
  void max_pool2d_grad(Dtype dtype, const Window2d& window, const void* grad, const int32_t* indices, void* grad_x) const override;

  void unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const override;
  void binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const override;
  void axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const override;
  void add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const override;
  void dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const override;
  void masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const override;
  void sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const override;
  void adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const override;

  void softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const override;
  void softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const override;
  void layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y, double* mean,
                  double* inverse_std) const override;
  void layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                       const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const override;
  void sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const override;

  void channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const override;
  void channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const override;
  void channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean, double* sums,
                        double* products) const override;
  void channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift, void* y) const override;
  void channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a, const double* b, const double* s,
                       void* y) const override;
};

/// Threads of BLAS and oneDNN.
void set_library_threads(int threads);
int library_threads();

}  // namespace hvd::backends
