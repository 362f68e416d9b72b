// SPDX-License-Identifier: Apache-2.0
//
// Operations on rows, and sums over rows, of float32 numbers. A row belongs to one thread, as does a column of sums, which take the rows in
// their order.
#include "device/onednn/kernels.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/parallel.hpp"

#include <vector>

namespace hvd::backends {

namespace {

const float* floats(const void* data) { return static_cast<const float*>(data); }
float* floats(void* data) { return static_cast<float*>(data); }

/// Columns that are summed at a time: their sums stay in the first cache.
constexpr int64_t kColumns = 256;

}  // namespace

void OneDnn::softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const {
  if (dtype != Dtype::kFloat32 || log || columns < 1) return Cpu::softmax(dtype, rows, columns, in, out, log);
  parallel_for(rows, 8 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) kernels().softmax(columns, floats(in) + r * columns, floats(out) + r * columns);
  });
}

void OneDnn::softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const {
  if (dtype != Dtype::kFloat32 || log) return Cpu::softmax_grad(dtype, rows, columns, grad, out, grad_in, log);
  parallel_for(rows, 2 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      kernels().softmax_grad(columns, floats(grad) + r * columns, floats(out) + r * columns, floats(grad_in) + r * columns);
  });
}

void OneDnn::layer_norm(Dtype dtype, int64_t rows, int64_t columns, const void* x, const void* weight, const void* bias, double eps, void* y,
                        double* mean, double* inverse_std) const {
  if (dtype != Dtype::kFloat32) return Cpu::layer_norm(dtype, rows, columns, x, weight, bias, eps, y, mean, inverse_std);
  parallel_for(rows, 4 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      kernels().layer_norm(columns, floats(x) + r * columns, floats(weight), floats(bias), eps, floats(y) + r * columns, mean + r, inverse_std + r);
  });
}

void OneDnn::layer_norm_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* x, const void* weight, const double* mean,
                             const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) const {
  if (dtype != Dtype::kFloat32)
    return Cpu::layer_norm_grad(dtype, rows, columns, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias);
  if (grad_x)
    parallel_for(rows, 4 * columns, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        kernels().layer_norm_grad(columns, floats(grad) + r * columns, floats(x) + r * columns, floats(weight), mean[r], inverse_std[r],
                                  floats(grad_x) + r * columns);
    });
  if (!grad_weight && !grad_bias) return;
  parallel_for((columns + kColumns - 1) / kColumns, 2 * rows * kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * kColumns; first < std::min(end * kColumns, columns); first += kColumns) {
      const int64_t count = std::min(kColumns, columns - first);
      double weights[kColumns] = {}, biases[kColumns] = {};
      for (int64_t r = 0; r < rows; ++r)
        kernels().layer_norm_sums(count, floats(grad) + r * columns + first, floats(x) + r * columns + first, mean[r], inverse_std[r], weights, biases);
      for (int64_t j = 0; j < count; ++j) {
        if (grad_weight) floats(grad_weight)[first + j] = static_cast<float>(weights[j]);
        if (grad_bias) floats(grad_bias)[first + j] = static_cast<float>(biases[j]);
      }
    }
  });
}

void OneDnn::sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const {
  if (dtype != Dtype::kFloat32 || outer != 1 || inner < 8) return Cpu::sum(dtype, outer, length, inner, in, out);
  parallel_for((inner + kColumns - 1) / kColumns, length * kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * kColumns; first < std::min(end * kColumns, inner); first += kColumns) {
      const int64_t count = std::min(kColumns, inner - first);
      double total[kColumns] = {};
      for (int64_t j = 0; j < length; ++j) kernels().add_to(count, floats(in) + j * inner + first, total);
      for (int64_t j = 0; j < count; ++j) floats(out)[first + j] = static_cast<float>(total[j]);
    }
  });
}

}  // namespace hvd::backends
