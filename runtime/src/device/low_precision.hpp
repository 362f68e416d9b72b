// SPDX-License-Identifier: Apache-2.0
//
// bfloat16 and float16 on a device whose operations are written for float32 and float64: operands are widened to float32, the
// operation runs there, and its results are rounded once. Products go to the device where it has them for these dtypes. Everything
// else passes through. A device without native 16-bit arithmetic thereby gives the same results as one with it, up to the order of sums.
#pragma once

#include "device/device.hpp"

namespace hvd::backends {

class LowPrecision final : public Backend {
 public:
  /// `base` outlives this object.
  explicit LowPrecision(const Backend& base) : base_(base), native_(base.takes_low_precision()) {}
  bool takes_low_precision() const override { return native_; }

  Allocator& allocator() const override;
  bool host_memory() const override;
  void to_host(void* host, const void* buffer, size_t bytes) const override;
  void from_host(void* buffer, const void* host, size_t bytes) const override;

  bool check_index(const char* name, const int64_t* index, int64_t n, int64_t length) const override;
  bool nll_on_device(const char* name, Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
                     int64_t ignore_index, double smoothing, bool mean, void* per_row, void* value, void* counted) const override;
  bool channel_sums_on_device(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, void* sums) const override;
  bool batch_norm(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps, void* y,
                  double* mean, double* variance, double* inverse_std) const override;
  bool batch_norm_grad(Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight, const double* mean,
                       const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const override;

  void fill(void* out, Dtype dtype, int64_t n, Scalar value) const override;
  void copy(const Extents& extents, const Operand& out, const Operand& in) const override;
  void index_select(void* out, const void* in, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                    int64_t inner_bytes) const override;
  void index_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                 int64_t inner) const override;
  void gather(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
              int64_t inner) const override;
  void scatter_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                   int64_t inner) const override;

  void unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const override;
  void binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const override;
  void compare(Compare op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const override;
  void classify(Classify op, Dtype dtype, int64_t n, const void* in, bool* out) const override;
  void masked_fill(const Extents& extents, const Operand& out, const Operand& in, const Operand& mask, Scalar value) const override;
  void axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const override;
  void add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const override;

  void sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const override;
  void extremum(Extremum op, Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* values,
                int64_t* indices) const override;
  double sum_squares(Dtype dtype, int64_t n, const void* in) const override;
  double max_magnitude(Dtype dtype, int64_t n, const void* in) const override;

  void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
            const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const override;
  void gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                  const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const override;

  void softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const override;
  void softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const override;
  int64_t nll(Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
              int64_t ignore_index, double smoothing, void* per_row, double totals[2]) const override;
  void nll_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale, const int64_t* target,
                const void* weight, int64_t ignore_index, void* grad_in) const override;
  void cross_entropy_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                          const void* log_probabilities, const int64_t* target, const void* weight, int64_t ignore_index,
                          double smoothing, void* grad_in) const override;
  void layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                  double* mean, double* inverse_std) const override;
  void layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                       const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const override;

  void conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  void conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  void conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  void max_pool2d(Dtype dtype, const Window2d& window, const void* x, void* y, int32_t* indices) const override;
  void max_pool2d_grad(Dtype dtype, const Window2d& window, const void* grad, const int32_t* indices, void* grad_x) const override;
  void mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* x,
                   void* y) const override;
  void mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                        const void* grad, void* grad_x) const override;

  void channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const override;
  void channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const override;
  void channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean,
                        double* sums, double* products) const override;
  void channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale, const double* shift,
                      void* y) const override;
  void channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a,
                       const double* b, const double* s, void* y) const override;

  void uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const override;
  void normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const override;
  void integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const override;
  void dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const override;
  void masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const override;

  void sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const override;
  void adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
            void* param) const override;
  void rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg,
               void* momentum_buffer, void* param) const override;
  void sgd_all(Dtype dtype, const std::vector<ParamBuffers>& params, const SgdUpdate& update) const override;
  void adam_all(Dtype dtype, const std::vector<ParamBuffers>& params, const AdamUpdate& update) const override;
  void rmsprop_all(Dtype dtype, const std::vector<ParamBuffers>& params, const RmspropUpdate& update) const override;
  void lamb_direction(Dtype dtype, int64_t n, const LambUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
                      const void* param, void* direction) const override;

 private:
  /// Whether a call with this dtype goes through float32 here.
  bool widens(Dtype dtype) const { return is_low_precision(dtype) && !native_; }

  const Backend& base_;
  const bool native_;
};

}  // namespace hvd::backends
