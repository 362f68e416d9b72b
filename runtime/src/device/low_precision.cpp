// SPDX-License-Identifier: Apache-2.0
//
// Elements, reductions, products, random numbers and optimizers; low_precision_layers.cpp has the rest.
#include "device/low_precision.hpp"

#include "device/low_precision_buffers.hpp"

namespace hvd::backends {

namespace {

constexpr Dtype kWide = Dtype::kFloat32;

int64_t count(const Extents& e) {
  int64_t n = 1;
  for (int d = 0; d < e.dims; ++d) n *= e.size[d];
  return n;
}

/// A dense float32 buffer over the extents.
Operand dense(const Extents& e, const FloatBuffer& values) {
  Operand o;
  o.data = values.data();
  o.dtype = kWide;
  int64_t step = 1;
  for (int d = e.dims; d-- > 0;) {
    o.stride[d] = step;
    step *= e.size[d];
  }
  return o;
}

/// Elements of a matrix in memory, given its rows, columns and the length of its rows there.
int64_t reach(bool transposed, int64_t rows, int64_t columns, int64_t row_length) {
  if (rows == 0 || columns == 0) return 0;
  return transposed ? (columns - 1) * row_length + rows : (rows - 1) * row_length + columns;
}

}  // namespace

Allocator& LowPrecision::allocator() const { return base_.allocator(); }
bool LowPrecision::host_memory() const { return base_.host_memory(); }
void LowPrecision::to_host(void* host, const void* buffer, size_t bytes) const { base_.to_host(host, buffer, bytes); }
void LowPrecision::from_host(void* buffer, const void* host, size_t bytes) const { base_.from_host(buffer, host, bytes); }

void LowPrecision::fill(void* out, Dtype dtype, int64_t n, Scalar value) const { base_.fill(out, dtype, n, value); }
void LowPrecision::copy(const Extents& extents, const Operand& out, const Operand& in) const { base_.copy(extents, out, in); }
void LowPrecision::index_select(void* out, const void* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner_bytes) const {
  base_.index_select(out, in, index, outer, length, n, inner_bytes);
}
void LowPrecision::index_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) const {
  if (!is_low_precision(dtype)) return base_.index_add(out, in, dtype, index, outer, length, n, inner);
  base_.index_add(Rounded(base_, dtype, outer * length * inner, out, true), Wide(base_, dtype, outer * n * inner, in), kWide, index, outer, length, n, inner);
}
void LowPrecision::gather(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) const {
  base_.gather(out, in, dtype, index, outer, length, n, inner);
}
void LowPrecision::scatter_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                               int64_t inner) const {
  if (!is_low_precision(dtype)) return base_.scatter_add(out, in, dtype, index, outer, length, n, inner);
  base_.scatter_add(Rounded(base_, dtype, outer * length * inner, out, true), Wide(base_, dtype, outer * n * inner, in), kWide, index, outer, length, n, inner);
}

void LowPrecision::unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const {
  if (!widens(dtype)) return base_.unary(op, dtype, n, in, out, p, q);
  base_.unary(op, kWide, n, Wide(base_, dtype, n, in), Rounded(base_, dtype, n, out), p, q);
}

void LowPrecision::binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  if (!widens(out.dtype)) return base_.binary(op, extents, out, a, b);
  const FloatBuffer first(base_, count(extents)), second(base_, count(extents));
  const Operand x = dense(extents, first), y = dense(extents, second);
  base_.copy(extents, x, a);
  base_.copy(extents, y, b);
  base_.binary(op, extents, x, x, y);
  base_.copy(extents, out, x);
}

void LowPrecision::compare(Compare op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  base_.compare(op, extents, out, a, b);
}
void LowPrecision::classify(Classify op, Dtype dtype, int64_t n, const void* in, bool* out) const {
  if (!widens(dtype)) return base_.classify(op, dtype, n, in, out);
  base_.classify(op, kWide, n, Wide(base_, dtype, n, in), out);
}
void LowPrecision::masked_fill(const Extents& extents, const Operand& out, const Operand& in, const Operand& mask, Scalar value) const {
  base_.masked_fill(extents, out, in, mask, value);
}
void LowPrecision::axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const {
  if (!widens(dtype)) return base_.axpy(dtype, n, alpha, x, y);
  base_.axpy(kWide, n, alpha, Wide(base_, dtype, n, x), Rounded(base_, dtype, n, y, true));
}
void LowPrecision::add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const {
  if (!widens(dtype)) return base_.add_rows(dtype, rows, columns, bias, x);
  base_.add_rows(kWide, rows, columns, Wide(base_, dtype, columns, bias), Rounded(base_, dtype, rows * columns, x, true));
}

void LowPrecision::sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const {
  if (!widens(dtype)) return base_.sum(dtype, outer, length, inner, in, out);
  base_.sum(kWide, outer, length, inner, Wide(base_, dtype, outer * length * inner, in), Rounded(base_, dtype, outer * inner, out));
}
void LowPrecision::extremum(Extremum op, Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* values,
                            int64_t* indices) const {
  if (!widens(dtype)) return base_.extremum(op, dtype, outer, length, inner, in, values, indices);
  base_.extremum(op, kWide, outer, length, inner, Wide(base_, dtype, outer * length * inner, in), Rounded(base_, dtype, outer * inner, values), indices);
}
double LowPrecision::sum_squares(Dtype dtype, int64_t n, const void* in) const {
  return widens(dtype) ? base_.sum_squares(kWide, n, Wide(base_, dtype, n, in)) : base_.sum_squares(dtype, n, in);
}
double LowPrecision::max_magnitude(Dtype dtype, int64_t n, const void* in) const {
  return widens(dtype) ? base_.max_magnitude(kWide, n, Wide(base_, dtype, n, in)) : base_.max_magnitude(dtype, n, in);
}

void LowPrecision::gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                        const void* b, int64_t ldb, double beta, void* c, int64_t ldc) const {
  if (!is_low_precision(dtype)) return base_.gemm(dtype, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
  if (beta == 0 && base_.low_gemm(dtype, transpose_a, transpose_b, 1, m, n, k, a, lda, b, ldb, c, ldc, {})) return;
  // Rows of C may lie apart; what is between them keeps its value, because it is widened and rounded back.
  base_.gemm(kWide, transpose_a, transpose_b, m, n, k, Wide(base_, dtype, reach(transpose_a, m, k, lda), a), lda,
             Wide(base_, dtype, reach(transpose_b, k, n, ldb), b), ldb, beta, Rounded(base_, dtype, reach(false, m, n, ldc), c, beta != 0 || ldc != n), ldc);
}

void LowPrecision::gemm_batch(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a,
                              int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  if (!is_low_precision(dtype)) return base_.gemm_batch(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride);
  if (base_.low_gemm(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride)) return;
  const int64_t size = static_cast<int64_t>(dtype_size(dtype));
  for (int64_t i = 0; i < count; ++i)
    gemm(dtype, transpose_a, transpose_b, m, n, k, static_cast<const char*>(a) + i * stride.a * size, lda,
         static_cast<const char*>(b) + i * stride.b * size, ldb, 0, static_cast<char*>(c) + i * stride.c * size, ldc);
}

void LowPrecision::uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const {
  base_.uniform(dtype, n, out, draw, low, high);
}
void LowPrecision::normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const {
  if (!widens(dtype)) return base_.normal(dtype, n, out, draw, mean, std);
  base_.normal(kWide, n, Rounded(base_, dtype, n, out), draw, mean, std);
}
void LowPrecision::integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const { base_.integers(n, out, draw, low, high); }
void LowPrecision::dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const {
  if (!widens(dtype)) return base_.dropout(dtype, n, x, mask, out, draw, p, scale);
  base_.dropout(kWide, n, Wide(base_, dtype, n, x), mask, Rounded(base_, dtype, n, out), draw, p, scale);
}
void LowPrecision::masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const {
  if (!widens(dtype)) return base_.masked_scale(dtype, n, x, mask, scale, out);
  base_.masked_scale(kWide, n, Wide(base_, dtype, n, x), mask, scale, Rounded(base_, dtype, n, out));
}

void LowPrecision::sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const {
  if (!is_low_precision(dtype)) return base_.sgd(dtype, n, update, grad, momentum_buffer, param);
  base_.sgd(kWide, n, update, Wide(base_, dtype, n, grad), Rounded(base_, dtype, n, momentum_buffer, true), Rounded(base_, dtype, n, param, true));
}
void LowPrecision::adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const {
  if (!is_low_precision(dtype)) return base_.adam(dtype, n, update, grad, exp_avg, exp_avg_sq, param);
  base_.adam(kWide, n, update, Wide(base_, dtype, n, grad), Rounded(base_, dtype, n, exp_avg, true), Rounded(base_, dtype, n, exp_avg_sq, true),
             Rounded(base_, dtype, n, param, true));
}
void LowPrecision::rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg,
                           void* momentum_buffer, void* param) const {
  if (!is_low_precision(dtype)) return base_.rmsprop(dtype, n, update, grad, square_avg, grad_avg, momentum_buffer, param);
  base_.rmsprop(kWide, n, update, Wide(base_, dtype, n, grad), Rounded(base_, dtype, n, square_avg, true), Rounded(base_, dtype, n, grad_avg, true),
                Rounded(base_, dtype, n, momentum_buffer, true), Rounded(base_, dtype, n, param, true));
}
void LowPrecision::sgd_all(Dtype dtype, const std::vector<ParamBuffers>& params, const SgdUpdate& update) const {
  is_low_precision(dtype) ? Backend::sgd_all(dtype, params, update) : base_.sgd_all(dtype, params, update);
}
void LowPrecision::adam_all(Dtype dtype, const std::vector<ParamBuffers>& params, const AdamUpdate& update) const {
  is_low_precision(dtype) ? Backend::adam_all(dtype, params, update) : base_.adam_all(dtype, params, update);
}
void LowPrecision::rmsprop_all(Dtype dtype, const std::vector<ParamBuffers>& params, const RmspropUpdate& update) const {
  is_low_precision(dtype) ? Backend::rmsprop_all(dtype, params, update) : base_.rmsprop_all(dtype, params, update);
}
void LowPrecision::lamb_direction(Dtype dtype, int64_t n, const LambUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
                                  const void* param, void* direction) const {
  if (!is_low_precision(dtype)) return base_.lamb_direction(dtype, n, update, grad, exp_avg, exp_avg_sq, param, direction);
  base_.lamb_direction(kWide, n, update, Wide(base_, dtype, n, grad), Rounded(base_, dtype, n, exp_avg, true), Rounded(base_, dtype, n, exp_avg_sq, true),
                       Wide(base_, dtype, n, param), Rounded(base_, dtype, n, direction));
}

}  // namespace hvd::backends
