// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <cmath>
#include <cstring>

namespace hvd {

using backends::Classify;
using backends::Compare;

namespace {

Tensor compared(Compare op, const Tensor& a, const Tensor& b) {
  core::check_same_device(a, b, "comparison");
  const Dtype dtype = core::promote(a, b);
  const Tensor x = a.detach().to(dtype), y = b.detach().to(dtype);
  const Tensor out = core::make(core::broadcast_sizes(a.sizes(), b.sizes(), "comparison"), Dtype::kBool, a.device());
  core::backend_of(a).compare(op, core::extents(out.sizes()), core::operand(out), core::operand(x, out.sizes()), core::operand(y, out.sizes()));
  return out;
}

/// A number is compared in the tensor's dtype; an integer or bool tensor is compared with a real number in float64.
Tensor compared(Compare op, const Tensor& a, Scalar b) {
  const bool widen = !a.is_floating_point() && b.is_floating_point();
  const Dtype dtype = widen ? Dtype::kFloat64 : (a.dtype() == Dtype::kBool ? Dtype::kInt64 : a.dtype());
  return compared(op, a.detach().to(dtype), full({}, b, TensorOptions(dtype).device(a.device())));
}

Tensor classified(Classify op, const Tensor& t) {
  const Tensor in = t.detach().contiguous();
  const Tensor out = core::make(t.sizes(), Dtype::kBool, t.device());
  core::backend_of(t).classify(op, t.dtype(), t.numel(), in.raw_data(), out.data_ptr<bool>());
  return out;
}

}  // namespace

Tensor Tensor::eq(const Tensor& other) const { return compared(Compare::kEq, *this, other); }
Tensor Tensor::ne(const Tensor& other) const { return compared(Compare::kNe, *this, other); }
Tensor Tensor::lt(const Tensor& other) const { return compared(Compare::kLt, *this, other); }
Tensor Tensor::le(const Tensor& other) const { return compared(Compare::kLe, *this, other); }
Tensor Tensor::gt(const Tensor& other) const { return compared(Compare::kGt, *this, other); }
Tensor Tensor::ge(const Tensor& other) const { return compared(Compare::kGe, *this, other); }
Tensor Tensor::eq(Scalar other) const { return compared(Compare::kEq, *this, other); }
Tensor Tensor::ne(Scalar other) const { return compared(Compare::kNe, *this, other); }
Tensor Tensor::lt(Scalar other) const { return compared(Compare::kLt, *this, other); }
Tensor Tensor::le(Scalar other) const { return compared(Compare::kLe, *this, other); }
Tensor Tensor::gt(Scalar other) const { return compared(Compare::kGt, *this, other); }
Tensor Tensor::ge(Scalar other) const { return compared(Compare::kGe, *this, other); }
Tensor Tensor::isnan() const { return classified(Classify::kNan, *this); }
Tensor Tensor::isfinite() const { return classified(Classify::kFinite, *this); }

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor x = core::host_copy(a).contiguous(), y = core::host_copy(b).contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), x.numel() * dtype_size(x.dtype())) == 0;
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol) {
  if (a.sizes() != b.sizes()) return false;
  const Tensor x = core::host_copy(a).to(kFloat64).contiguous(), y = core::host_copy(b).to(kFloat64).contiguous();
  const double* p = x.data_ptr<double>();
  const double* q = y.data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i)
    if (p[i] != q[i] && !(std::abs(p[i] - q[i]) <= atol + rtol * std::abs(q[i]))) return false;
  return true;
}

}  // namespace hvd
