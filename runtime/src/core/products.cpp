// SPDX-License-Identifier: Apache-2.0
#include "core/products.hpp"

#include "core/autocast.hpp"

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
  const Tensor a = core::autocast_low(*this), b = core::autocast_low(other);
  check_product(a, b, "mm");
  const Tensor out = core::multiply(a.detach(), false, b.detach(), false);
  return record("mm", out, {a, b}, {a, b}, [](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? core::multiply(g, false, node.saved(1), true) : Tensor(),
                 node.wants(1) ? core::multiply(node.saved(0), true, g, false) : Tensor()};
  });
}

namespace {

/// The matrices of [count, rows, columns]: each dense or the transpose of a dense one, `step` elements apart; copied when they are not.
struct Matrices {
  Tensor tensor;
  bool transposed;
  int64_t row_length, step;
};

Matrices as_matrices(const Tensor& t) {
  const int64_t rows = t.size(1), columns = t.size(2), row_step = t.strides()[1], column_step = t.strides()[2];
  if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1)) return {t, false, std::max(row_step, columns), t.strides()[0]};
  if ((row_step == 1 || rows == 1) && (column_step >= rows || columns == 1)) return {t, true, std::max(column_step, rows), t.strides()[0]};
  const Tensor dense = t.contiguous();
  return {dense, false, columns, rows * columns};
}

/// op(a[i]) op(b[i]) for every i, values only.
Tensor multiply_batch(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const Matrices x = as_matrices(a), y = as_matrices(b);
  const int64_t count = a.size(0), m = a.size(transpose_a ? 2 : 1), k = a.size(transpose_a ? 1 : 2), n = b.size(transpose_b ? 1 : 2);
  const Tensor out = core::make({count, m, n}, a.dtype(), a.device());
  core::backend_of(a).gemm_batch(a.dtype(), transpose_a != x.transposed, transpose_b != y.transposed, count, m, n, k, x.tensor.raw_data(),
                                 x.row_length, y.tensor.raw_data(), y.row_length, out.raw_data(), n, {x.step, y.step, m * n});
  return out;
}

[[noreturn]] void refuse_product(const Tensor& a, const Tensor& b, const char* name) {
  throw Error(std::string(name) + ": shapes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) + " do not multiply");
}

/// [..., m, n] as [count, m, n]; what is the transpose of dense matrices is seen so without a copy.
Tensor as_batch(const Tensor& t, int64_t count) {
  if (!t.is_contiguous() && t.transpose(-2, -1).is_contiguous())
    return t.transpose(-2, -1).reshape({count, t.size(-1), t.size(-2)}).transpose(1, 2);
  return t.reshape({count, t.size(-2), t.size(-1)});
}

/// Products of the matrices in the last two dimensions; those before them broadcast.
Tensor matmul_batch(const Tensor& a, const Tensor& b) {
  if (a.size(-1) != b.size(-2)) refuse_product(a, b, "matmul");
  const auto outer_of = [](const Tensor& t) { return std::vector<int64_t>(t.sizes().begin(), t.sizes().end() - 2); };
  const auto with = [](std::vector<int64_t> outer, const Tensor& t) {
    outer.insert(outer.end(), t.sizes().end() - 2, t.sizes().end());
    return outer;
  };
  std::vector<int64_t> outer = core::broadcast_sizes(outer_of(a), outer_of(b), "matmul");
  const int64_t count = core::count(outer);
  const Tensor x = outer == outer_of(a) ? a : a.expand(with(outer, a)), y = outer == outer_of(b) ? b : b.expand(with(outer, b));
  const Tensor out = as_batch(x, count).bmm(as_batch(y, count));
  outer.insert(outer.end(), {a.size(-2), b.size(-1)});
  return out.reshape(outer);
}

}  // namespace

Tensor Tensor::bmm(const Tensor& other) const {
  core::check_real(*this, "bmm");
  core::check_real(other, "bmm");
  core::check_same_device(*this, other, "bmm");
  const Tensor a = core::autocast_low(*this), b = core::autocast_low(other);
  if (a.dtype() != b.dtype()) throw Error(std::string("bmm: ") + dtype_name(a.dtype()) + " times " + dtype_name(b.dtype()));
  if (dim() != 3 || other.dim() != 3 || size(0) != other.size(0) || size(2) != other.size(1)) refuse_product(*this, other, "bmm");
  const Tensor out = multiply_batch(a.detach(), false, b.detach(), false);
  return record("bmm", out, {a, b}, {a, b}, [](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? multiply_batch(g, false, node.saved(1), true) : Tensor(),
                 node.wants(1) ? multiply_batch(node.saved(0), true, g, false) : Tensor()};
  });
}

Tensor Tensor::matmul(const Tensor& other) const {
  if (dim() == 0 || other.dim() == 0) refuse_product(*this, other, "matmul");
  if (dim() == 1 && other.dim() == 1) {
    if (size(0) != other.size(0)) refuse_product(*this, other, "matmul");
    return mul(other).sum();
  }
  if (dim() == 1) return unsqueeze(0).matmul(other).squeeze(-2);
  if (other.dim() == 1) return matmul(other.unsqueeze(1)).squeeze(-1);
  if (dim() == 2 && other.dim() == 2) {
    check_product(core::autocast_low(*this), core::autocast_low(other), "matmul");
    return mm(other);
  }
  if (other.dim() > 2) return matmul_batch(*this, other);
  if (size(-1) != other.size(0)) refuse_product(*this, other, "matmul");
  std::vector<int64_t> outer(sizes().begin(), sizes().end() - 1);
  const Tensor out = reshape({core::count(outer), size(-1)}).mm(other);
  outer.push_back(other.size(1));
  return out.reshape(outer);
}

}  // namespace hvd
