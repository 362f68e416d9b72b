// SPDX-License-Identifier: Apache-2.0
#include "core/products.hpp"

#include <algorithm>

namespace hvd {

using autograd::Node;
using autograd::record;
using Grads = std::vector<Tensor>;

namespace core {

Matrix as_matrix(const Tensor& t) {
  const int64_t rows = t.size(0), columns = t.size(1), row_step = t.strides()[0], column_step = t.strides()[1];
  if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1)) return {t, false, std::max(row_step, columns)};
  if ((row_step == 1 || rows == 1) && (column_step >= rows || columns == 1)) return {t, true, std::max(column_step, rows)};
  const Tensor dense = t.contiguous();
  return {dense, false, columns};
}

Tensor multiply(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const Matrix x = as_matrix(a), y = as_matrix(b);
  const int64_t m = a.size(transpose_a ? 1 : 0), k = a.size(transpose_a ? 0 : 1), n = b.size(transpose_b ? 0 : 1);
  const Tensor out = make({m, n}, a.dtype(), a.device());
  backend_of(a).gemm(a.dtype(), transpose_a != x.transposed, transpose_b != y.transposed, m, n, k, x.tensor.raw_data(), x.row_length,
                     y.tensor.raw_data(), y.row_length, 0, out.raw_data(), n);
  return out;
}

}  // namespace core

namespace {

void check_product(const Tensor& a, const Tensor& b, const char* name) {
  core::check_real(a, name);
  core::check_real(b, name);
  core::check_same_device(a, b, name);
  if (a.dtype() != b.dtype()) throw Error(std::string(name) + ": " + dtype_name(a.dtype()) + " times " + dtype_name(b.dtype()));
  if (a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(0))
    throw Error(std::string(name) + ": shapes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) + " do not multiply");
}

}  // namespace

Tensor Tensor::mm(const Tensor& other) const {
  check_product(*this, other, "mm");
  const Tensor out = core::multiply(detach(), false, other.detach(), false);
  return record("mm", out, {*this, other}, {*this, other}, [](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? core::multiply(g, false, node.saved(1), true) : Tensor(),
                 node.wants(1) ? core::multiply(node.saved(0), true, g, false) : Tensor()};
  });
}

Tensor Tensor::matmul(const Tensor& other) const {
  if (dim() == 1 && other.dim() == 1) {
    if (size(0) != other.size(0)) throw Error("matmul: shapes " + to_string(sizes()) + " and " + to_string(other.sizes()) + " do not multiply");
    return mul(other).sum();
  }
  if (dim() == 1 && other.dim() == 2) return unsqueeze(0).mm(other).squeeze(0);
  if (dim() == 2 && other.dim() == 1) return mm(other.unsqueeze(1)).squeeze(1);
  check_product(*this, other, "matmul");
  return mm(other);
}

}  // namespace hvd
