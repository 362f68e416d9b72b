// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/conv_dnnl.hpp"
#include "device/onednn/dnnl.hpp"
#include "device/onednn/onednn.hpp"

namespace hvd::backends {

namespace {

using dnnl::memory;

bool native(Dtype dtype) { return dtype == Dtype::kBFloat16 && multiplies_bfloat16(); }

/// `count` matrices [rows, columns], each with rows of `row_length` elements in memory, or the transpose of such ones.
memory::desc matrices(int64_t count, int64_t rows, int64_t columns, bool transposed, int64_t row_length, int64_t step) {
  const memory::dims within = transposed ? memory::dims{1, row_length} : memory::dims{row_length, 1};
  return {{count, rows, columns}, memory::data_type::bf16, memory::dims{step, within[0], within[1]}};
}

}  // namespace

bool OneDnn::low_gemm(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                      const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  if (!native(dtype) || count == 0 || m == 0 || n == 0 || k == 0) return false;
  // A stride that no product needs still has to be one that a dense batch could have.
  const auto step = [&](int64_t given, int64_t whole) { return count == 1 ? whole : given; };
  return supported([&] {
    const memory::desc first = matrices(count, m, k, transpose_a, lda, step(stride.a, (transpose_a ? k : m) * lda));
    const memory::desc second = matrices(count, k, n, transpose_b, ldb, step(stride.b, (transpose_b ? n : k) * ldb));
    const memory::desc result = matrices(count, m, n, false, ldc, step(stride.c, m * ldc));
    const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(first, second, result), engine());
    dnnl::matmul(desc).execute(stream(), {{DNNL_ARG_SRC, memory(first, engine(), const_cast<void*>(a))},
                                          {DNNL_ARG_WEIGHTS, memory(second, engine(), const_cast<void*>(b))},
                                          {DNNL_ARG_DST, memory(result, engine(), c)}});
    stream().wait();
  });
}

bool OneDnn::low_conv2d(Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) const {
  return native(dtype) && dnnl_conv2d(dtype, window, x, weight, bias, y);
}
bool OneDnn::low_conv2d_grad_input(Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) const {
  return native(dtype) && dnnl_conv2d_grad_input(dtype, window, grad, weight, grad_x);
}
bool OneDnn::low_conv2d_grad_weight(Dtype dtype, const Window2d& window, const void* grad, const void* x, void* grad_weight) const {
  return native(dtype) && dnnl_conv2d_grad_weight(dtype, window, grad, x, grad_weight);
}

}  // namespace hvd::backends
