// SPDX-License-Identifier: Apache-2.0
//
// A GPU as the runtime's own kernels make it: everything but products, copies and memory, which the devices that derive from it bring
// (device/cuda). bfloat16 and float16 beyond moving them come from LowPrecision; products and convolutions of theirs are native.
#pragma once

#include "device/device.hpp"
#include "device/gpu/checks.hpp"

#include <atomic>

namespace hvd::backends::gpu {

class Gpu : public Backend {
 public:
  bool host_memory() const override { return false; }
  bool takes_low_precision() const override { return true; }
  /// Sums and updates of several threads go in a fixed order.
  virtual bool deterministic() const = 0;
  /// As read(); throws hvd::Error for what kernels have found wrong since (checks.hpp).
  void to_host(void* host, const void* buffer, size_t bytes) const final;
  /// Waits for the work before it and copies.
  virtual void read(void* host, const void* buffer, size_t bytes) const = 0;
  /// As write(); while a step is noted, the bytes are noted with it.
  void from_host(void* buffer, const void* host, size_t bytes) const final;
  /// `host` may be changed as soon as this returns.
  virtual void write(void* buffer, const void* host, size_t bytes) const = 0;
  /// How often the host has waited for the device.
  uint64_t waits() const { return waits_; }

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

  // Convolutions as products over unfolded images (im2col), of as many images at a time as fit into `unfold_bytes`.
  void conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  void conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  void conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  bool low_conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const override;
  bool low_conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const override;
  bool low_conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const override;
  virtual size_t unfold_bytes() const { return size_t{256} << 20; }
  /// [batches, rows, columns] to [batches, columns, rows], of elements of 2, 4 or 8 bytes: images to and from an order with channels last.
  virtual void transpose(size_t element, int64_t batches, int64_t rows, int64_t columns, const void* in, void* out) const;
  /// y += bias per channel of [n, channels, inner], real or of 16 bits.
  void add_bias(Dtype dtype, int64_t n, int64_t channels, int64_t inner, const void* bias, void* y) const;
  /// Statistics of a batch norm that were computed in float32, as batch_norm gives them; variance = 1 / inverse_std^2 - eps, at least 0.
  virtual void widen_statistics(int64_t c, double eps, const float* mean, const float* inverse_std, double* mean_out, double* variance,
                                double* inverse_std_out) const;
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
  mutable Checks checks_;
  mutable std::atomic<uint64_t> waits_{0};

  /// `count` products C = op(A) op(B) of real or 16-bit numbers, all of one layout.
  void products(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const;
  void unfolded_conv(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const;
  void unfolded_conv_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const;
  void unfolded_conv_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const;
};

}  // namespace hvd::backends::gpu
