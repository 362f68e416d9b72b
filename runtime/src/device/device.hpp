// SPDX-License-Identifier: Apache-2.0
//
// What a device can do. An operation of the core is written once, against this interface; a device is a folder that
// implements it. All buffers are dense and row-major unless an Operand with strides is taken; sizes are in elements.
// Arguments that are passed or
// returned by value, `totals`, and the sums, means and factors of channels, lie on the host; all other buffers on the device.
// "Real" below means float32 or float64, the same for all real buffers of a call; copy, fill, compare, masked_fill, gather and
// index_select take every dtype, bfloat16 and float16 among them. Devices hold no state of their own.
#pragma once

#include <hvd/core/allocator.hpp>
#include <hvd/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hvd::backends {

inline constexpr int kMaxDims = 8;

/// The extents of a loop over elements.
struct Extents {
  int dims = 0;
  int64_t size[kMaxDims] = {};
};

/// A buffer seen through strides (in elements); a stride of 0 repeats an element.
struct Operand {
  void* data = nullptr;
  Dtype dtype = Dtype::kFloat32;
  int64_t stride[kMaxDims] = {};
};

enum class Unary : uint8_t {
  kNeg, kExp, kLog, kSqrt, kSquare, kAbs, kTanh, kSigmoid, kRelu,
  kPow,     // x^p
  kClamp,   // min(max(x, p), q)
  kAdd,     // x + p
  kRsub,    // p - x
  kMul,     // x * p
  kDiv,     // x / p
  kRdiv,    // p / x
  kStep,    // p where x > 0, else q
  kLeakyRelu,  // x where x > 0, else x * p
  kSoftplus,   // log(1 + exp(x))
  kGelu,       // x Phi(x), Phi the distribution function of the standard normal
  kGeluTanh,   // its approximation by tanh
};

enum class Binary : uint8_t {
  kAdd, kSub, kMul, kDiv,
  // gradients: a is the incoming gradient, b what the name says
  kReluGrad,     // a if output > 0, else 0
  kSigmoidGrad,  // a y (1 - y), y the output
  kTanhGrad,     // a (1 - y^2), y the output
  kAbsGrad,      // a sign(x), x the input
  kGeluGrad, kGeluTanhGrad,  // x the input
};

enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum class Classify : uint8_t { kNan, kFinite };
enum class Extremum : uint8_t { kMax, kMin };

/// A convolution or pooling of [n, c, h, w] with windows kh x kw to [n, k, oh, ow]; pooling has k = c, no dilation and one
/// group. With groups, output channel j sees the input channels of group j / (k / groups): weights are [k, c / groups, kh, kw].
struct Window2d {
  int64_t n, c, h, w;
  int64_t k, kh, kw;
  int64_t stride_h, stride_w, pad_h, pad_w;
  int64_t oh, ow;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t groups = 1;
};

/// Which entries of an extent each output of an average takes in: [first[i], last[i]).
struct Spans {
  std::vector<int64_t> first, last;
  int64_t count() const { return static_cast<int64_t>(first.size()); }
};

/// Attention of `heads` heads of `width` features: queries [n, t, heads width], keys and values [n, s, heads width], rows apart as the strides (in
/// elements) say. The mask [mask_batches, t, s], of the operands' dtype, is added to the scaled products: none, one for all samples, or n.
struct Attention {
  int64_t n, heads, t, s, width;
  double scale;
  int64_t q_batch, q_row, k_batch, k_row, v_batch, v_row;
  int64_t mask_batches = 0;
};

/// A batch of matrix products: operand i of each matrix starts `stride` elements after operand i - 1.
struct BatchStride {
  int64_t a, b, c;
};

/// Where the numbers of a random draw lie: element i of the buffer is element `first + i` of the draw (seed, counter). A draw that is noted and run
/// later starts elsewhere each time: `start` then lies on the device and holds the seed, and the number that `counter` is counted from.
struct Draw {
  uint64_t seed, counter, first;
  const uint64_t* start = nullptr;
};

/// One update of a parameter by SGD; see optim/sgd.hpp. `momentum_buffer` is null without momentum.
struct SgdUpdate {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, first;
  bool operator==(const SgdUpdate&) const = default;
};

/// One update of a parameter by Adam or AdamW (`decoupled`); `step` counts from 1.
struct AdamUpdate {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled;
  int64_t step;
  bool operator==(const AdamUpdate&) const = default;
};

/// One update of a parameter by RMSprop. `grad_avg` is null unless centered, `momentum_buffer` null without momentum.
struct RmspropUpdate {
  double lr, alpha, eps, momentum, weight_decay;
  bool operator==(const RmspropUpdate&) const = default;
};

/// The direction of LAMB before its trust ratio; `step` counts from 1.
struct LambUpdate {
  double beta1, beta2, eps, weight_decay;
  int64_t step;
};

/// The buffers of the update of one parameter, all of one dtype and length: its gradient, what the optimizer keeps for it in the order in which the
/// updates of single parameters name it (null where there is none), itself.
struct ParamBuffers {
  int64_t n;
  const void* grad;
  void* kept[3];
  void* param;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Allocator& allocator() const = 0;

  // -- between the host and the device's buffers
  /// Whether the host may read and write the device's buffers itself. Where it may not, these two are the only way.
  virtual bool host_memory() const { return true; }
  /// Waits for the operations that were asked for before.
  virtual void to_host(void* host, const void* buffer, size_t bytes) const;
  /// `host` may be changed as soon as this returns.
  virtual void from_host(void* buffer, const void* host, size_t bytes) const;

  // -- what leaves no number on the host; false where the device's numbers are there anyway: nothing was done
  /// Checks that 0 <= index[i] < length for i < n. What is wrong becomes known when the host next waits, in to_host(); the
  /// operation that is meant takes index 0 in its place.
  virtual bool check_index(const char* /*name*/, const int64_t* /*index*/, int64_t /*n*/, int64_t /*length*/) const { return false; }
  /// As nll below: `value` [1] receives the sum of the terms, divided by the sum of the weights that counted when `mean`; `counted` [1]
  /// that sum; both in the dtype of x. A target out of range gives NaN, and becomes known as above.
  virtual bool nll_on_device(const char* /*name*/, Dtype, int64_t /*rows*/, int64_t /*columns*/, const void* /*x*/, const int64_t* /*target*/,
                             const void* /*weight*/, int64_t /*ignore_index*/, double /*smoothing*/, bool /*mean*/, void* /*per_row*/, void* /*value*/,
                             void* /*counted*/) const {
    return false;
  }
  /// Sums of [n, c, inner] per channel, in the dtype of x.
  virtual bool channel_sums_on_device(Dtype, int64_t /*n*/, int64_t /*c*/, int64_t /*inner*/, const void* /*x*/, void* /*sums*/) const { return false; }
  /// y = (x - mean) / sqrt(variance + eps) weight + bias, with the statistics of each channel of [n, c, inner]; `weight` and `bias`, in dtype `params`,
  /// may be null. x may be of 16 bits where takes_low_precision(). mean, variance (biased) and inverse_std [c] are buffers of the device.
  virtual bool batch_norm(Dtype, Dtype /*params*/, int64_t /*n*/, int64_t /*c*/, int64_t /*inner*/, const void* /*x*/, const void* /*weight*/, const void* /*bias*/,
                          double /*eps*/, void* /*y*/, double* /*mean*/, double* /*variance*/, double* /*inverse_std*/) const {
    return false;
  }
  /// Its gradients, those of weight and bias in dtype `params`; any of the three may be null.
  virtual bool batch_norm_grad(Dtype, Dtype /*params*/, int64_t /*n*/, int64_t /*c*/, int64_t /*inner*/, const void* /*grad*/, const void* /*x*/, const void* /*weight*/,
                               const double* /*mean*/, const double* /*inverse_std*/, void* /*grad_x*/, void* /*grad_weight*/, void* /*grad_bias*/) const {
    return false;
  }

  // -- moving and filling
  virtual void fill(void* out, Dtype dtype, int64_t n, Scalar value) const = 0;
  /// out = in, converted.
  virtual void copy(const Extents& extents, const Operand& out, const Operand& in) const = 0;
  /// out[o, j, :] = in[o, index[j], :] for o < outer, j < n; in has `length` entries along that dimension. Bytes only.
  virtual void index_select(void* out, const void* in, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                            int64_t inner_bytes) const = 0;
  /// out[o, index[j], :] += in[o, j, :], real.
  virtual void index_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                         int64_t inner) const = 0;
  /// out[o, j, i] = in[o, index[o, j, i], i].
  virtual void gather(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                      int64_t inner) const = 0;
  /// out[o, index[o, j, i], i] += in[o, j, i], real.
  virtual void scatter_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                           int64_t inner) const = 0;

  // -- elementwise
  virtual void unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const = 0;
  /// All three operands have the same dtype; the strides broadcast. `out` may be one of the inputs, element by element.
  virtual void binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const = 0;
  /// out is bool; a and b have one dtype.
  virtual void compare(Compare op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const = 0;
  virtual void classify(Classify op, Dtype dtype, int64_t n, const void* in, bool* out) const = 0;
  /// out = value where mask (bool), else in; the strides broadcast.
  virtual void masked_fill(const Extents& extents, const Operand& out, const Operand& in, const Operand& mask, Scalar value) const = 0;
  /// y += alpha x, real.
  virtual void axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const = 0;
  /// x[r, :] += bias, real.
  virtual void add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const = 0;

  // -- reductions over the middle of [outer, length, inner]
  /// Sums in float64 for real input; int64 and bool give int64. `out` has the dtype of real input.
  virtual void sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const = 0;
  /// The first extremum wins; NaN wins over all. `values` or `indices` may be null.
  virtual void extremum(Extremum op, Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* values,
                        int64_t* indices) const = 0;
  /// Sum of squares and largest magnitude, in float64.
  virtual double sum_squares(Dtype dtype, int64_t n, const void* in) const = 0;
  virtual double max_magnitude(Dtype dtype, int64_t n, const void* in) const = 0;

  // -- products, real
  /// C = op(A) op(B) + beta C; op(A) is m x k, op(B) k x n; ld* are row lengths in memory.
  virtual void gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                    const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const = 0;
  /// `count` such products, beta = 0.
  virtual void gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a,
                          int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const = 0;

  /// Whether the elementwise operations, reductions, rows, pooling, channels and draws take bfloat16 and float16 themselves: computed in float32 (sums in
  /// float64), rounded once.
  virtual bool takes_low_precision() const { return false; }

  // -- products of bfloat16 or float16, where the device has them; false: nothing was done, widen and round instead
  /// `count` products as in gemm_batch.
  virtual bool low_gemm(Dtype, bool /*transpose_a*/, bool /*transpose_b*/, int64_t /*count*/, int64_t /*m*/, int64_t /*n*/, int64_t /*k*/,
                        const void* /*a*/, int64_t /*lda*/, const void* /*b*/, int64_t /*ldb*/, void* /*c*/, int64_t /*ldc*/, BatchStride) const {
    return false;
  }
  virtual bool low_conv2d(Dtype, const Window2d&, const void* /*x*/, const void* /*weight*/, const void* /*bias*/, void* /*y*/) const { return false; }
  virtual bool low_conv2d_grad_input(Dtype, const Window2d&, const void* /*grad*/, const void* /*weight*/, void* /*grad_x*/) const { return false; }
  virtual bool low_conv2d_grad_weight(Dtype, const Window2d&, const void* /*grad*/, const void* /*x*/, void* /*grad_weight*/) const { return false; }

  // -- attention as one operation, where the device has it for some shapes; false: nothing was done
  virtual bool has_attention() const { return false; }
  /// out [n, t, heads width] = softmax(scale q k^T + mask) v, of each head; `statistics` float32 [n, heads, t] receives what backward needs. True
  /// only where attention_grad works too.
  virtual bool attention(Dtype, const Attention&, const void* /*q*/, const void* /*k*/, const void* /*v*/, const void* /*mask*/, void* /*out*/,
                         float* /*statistics*/) const {
    return false;
  }
  /// grad_q [n, t, heads width], grad_k and grad_v [n, s, heads width] and `grad` are dense.
  virtual bool attention_grad(Dtype, const Attention&, const void* /*grad*/, const void* /*q*/, const void* /*k*/, const void* /*v*/, const void* /*mask*/,
                              const void* /*out*/, const float* /*statistics*/, void* /*grad_q*/, void* /*grad_k*/, void* /*grad_v*/) const {
    return false;
  }

  // -- rows of [rows, columns], real
  virtual void softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const = 0;
  virtual void softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const = 0;
  /// Per-row losses -(1 - s) weight[target] x[row, target] - s / columns sum_j weight[j] x[row, j] with s the label smoothing, 0 for
  /// ignored rows; totals[0] = their sum, totals[1] = sum of the weight[target] that counted. `weight` and `per_row` may be null.
  /// Returns the first row with a target out of range, or -1.
  virtual int64_t nll(Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
                      int64_t ignore_index, double smoothing, void* per_row, double totals[2]) const = 0;
  /// grad_in[row, target] = -weight[target] grad[row * grad_stride] scale, other elements 0.
  virtual void nll_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                        const int64_t* target, const void* weight, int64_t ignore_index, void* grad_in) const = 0;
  /// The two above in one: gradient of nll(log_softmax(x)) with respect to x, given log_probabilities.
  virtual void cross_entropy_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                                  const void* log_probabilities, const int64_t* target, const void* weight, int64_t ignore_index,
                                  double smoothing, void* grad_in) const = 0;
  /// y = (x - mean) / sqrt(variance + eps) * weight + bias along each row; `weight` and `bias` may be null. mean and
  /// inverse_std [rows], buffers of the device, receive what backward needs.
  virtual void layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps,
                          void* y, double* mean, double* inverse_std) const = 0;
  /// Any of the three results may be null.
  virtual void layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight,
                               const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const = 0;

  // -- images, real
  /// `bias` may be null.
  virtual void conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const = 0;
  virtual void conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const = 0;
  virtual void conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const = 0;
  /// `indices` receives h * w offsets of the winners within their plane.
  virtual void max_pool2d(Dtype dtype, const Window2d& window, const void* x, void* y, int32_t* indices) const = 0;
  virtual void max_pool2d_grad(Dtype dtype, const Window2d& window, const void* grad, const int32_t* indices, void* grad_x) const = 0;
  /// Sums over down x across of each of `planes` images [h, w], divided by `divisor`, or by the number of entries when it is 0.
  virtual void mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                           const void* x, void* y) const = 0;
  virtual void mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                                const void* grad, void* grad_x) const = 0;

  // -- channels of [n, c, inner], real; sums in float64
  virtual void channel_sums(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, double* sums) const = 0;
  /// Sums of (x - mean)^2.
  virtual void channel_squares(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* mean, double* sums) const = 0;
  /// Sums of g and of g (x - mean).
  virtual void channel_products(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* mean,
                                double* sums, double* products) const = 0;
  /// y = scale x + shift per channel.
  virtual void channel_affine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* x, const double* scale,
                              const double* shift, void* y) const = 0;
  /// y = a g + b x + s per channel.
  virtual void channel_combine(Dtype dtype, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const double* a,
                               const double* b, const double* s, void* y) const = 0;

  // -- random
  /// bfloat16 and float16 too: one of the dtype's multiples of 2^-8 or 2^-11, so that rounding never gives the upper end.
  virtual void uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const = 0;
  virtual void normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const = 0;
  virtual void integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const = 0;
  /// mask = element survives (probability 1 - p); out = x scale where it does, else 0.
  virtual void dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const = 0;
  /// out = x scale where mask, else 0.
  virtual void masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const = 0;

  // -- optimizers, real
  virtual void sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const = 0;
  virtual void adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
                    void* param) const = 0;
  virtual void rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg,
                       void* momentum_buffer, void* param) const = 0;
  /// The same update of many parameters, which a device may make in one pass.
  virtual void sgd_all(Dtype dtype, const std::vector<ParamBuffers>& params, const SgdUpdate& update) const;
  virtual void adam_all(Dtype dtype, const std::vector<ParamBuffers>& params, const AdamUpdate& update) const;
  virtual void rmsprop_all(Dtype dtype, const std::vector<ParamBuffers>& params, const RmspropUpdate& update) const;
  /// direction = m / (1-b1^t) / (sqrt(v / (1-b2^t)) + eps) + wd param; m and v are updated, param is not.
  virtual void lamb_direction(Dtype dtype, int64_t n, const LambUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
                              const void* param, void* direction) const = 0;
};

/// The backend of a device; throws hvd::Error for one that is not there.
const Backend& backend(Device device);
/// The same without what widens 16-bit numbers: what the device does with them itself.
const Backend& native_backend(Device device);

}  // namespace hvd::backends
