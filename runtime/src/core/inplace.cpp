// SPDX-License-Identifier: Apache-2.0
//
// Changes of a tensor's own values.
#include "core/elementwise.hpp"

#include <hvd/context.hpp>
#include <hvd/random.hpp>

namespace hvd {

using core::impl_of;
using backends::Binary;
using backends::Unary;

namespace {

/// Refuses changes of elements that share memory, and those that autograd cannot follow: of a leaf that requires gradients, and, where a
/// gradient is at stake, through a view, because the other views would not know.
void check_change(const Tensor& t, const char* name, bool recorded) {
  const TensorImpl& self = impl_of(t, name);
  for (size_t i = 0; i < self.sizes.size(); ++i)
    if (self.sizes[i] > 1 && self.strides[i] == 0)
      throw Error(std::string(name) + ": the elements of an expanded tensor " + to_string(self.sizes) + " share memory along dimension " +
                  std::to_string(i) + "; clone() it first");
  if (!grad_enabled()) return;
  if (self.requires_grad && !self.grad_fn)
    throw Error(std::string(name) + ": a leaf " + to_string(self.sizes) + " that requires gradients is changed in place; use NoGradGuard");
  if ((recorded || self.grad_fn) && self.is_view)
    throw Error(std::string(name) + ": a view " + to_string(self.sizes) + " that takes part in a gradient is changed in place");
}

void write(const Tensor& target, const Tensor& values) {
  core::assign(target, values);
  target.storage()->bump_version();
}

void check_fits(const Tensor& target, const Tensor& source, const char* name) {
  if (core::broadcast_sizes(target.sizes(), source.sizes(), name) != target.sizes())
    throw Error(std::string(name) + ": a tensor " + to_string(source.sizes()) + " does not fit into " + to_string(target.sizes()));
}

/// Takes over values and history of an out-of-place result.
Tensor adopt(const Tensor& target, const Tensor& result) {
  write(target, result);
  target.impl()->grad_fn = result.to(target.dtype()).impl()->grad_fn;
  return target;
}

/// target = target op other. Unrecorded changes happen where the values lie.
Tensor change(Binary op, const Tensor& target, const Tensor& other, const char* name) {
  const bool recorded = autograd::recording({&target, &other});
  check_change(target, name, recorded);
  core::check_same_device(target, other, name);
  check_fits(target, other, name);
  const Dtype dtype = target.dtype();
  if (!is_floating_point(dtype) && (other.is_floating_point() || op == Binary::kDiv))
    throw Error(std::string(name) + ": the result is real and does not fit into a tensor of " + dtype_name(dtype));
  if (recorded) {
    const Tensor old = target.clone();  // what the gradient of `other` may need
    switch (op) {
      case Binary::kAdd: return adopt(target, old.add(other));
      case Binary::kSub: return adopt(target, old.sub(other));
      case Binary::kMul: return adopt(target, old.mul(other));
      default: return adopt(target, old.div(other));
    }
  }
  const Tensor y = other.dtype() == dtype ? other : other.to(dtype);
  const backends::Operand self = core::operand(target);
  core::backend_of(target).binary(op, core::extents(target.sizes()), self, self, core::operand(y, target.sizes()));
  target.storage()->bump_version();
  return target;
}

Tensor change(Unary op, const Tensor& target, Scalar p, const char* name, Scalar q = 0) {
  const bool recorded = autograd::recording({&target});
  check_change(target, name, recorded);
  if (!target.is_floating_point() && (p.is_floating_point() || op == Unary::kDiv))
    throw Error(std::string(name) + ": the result is real and does not fit into a tensor of " + dtype_name(target.dtype()));
  if (recorded) {
    switch (op) {
      case Unary::kAdd: return adopt(target, target.add(p));
      case Unary::kMul: return adopt(target, target.mul(p));
      case Unary::kDiv: return adopt(target, target.div(p));
      default: return adopt(target, target.clone().clamp(p, q));  // its gradient needs the values before
    }
  }
  if (target.is_contiguous()) {
    core::backend_of(target).unary(op, target.dtype(), target.numel(), target.raw_data(), target.raw_data(), p, q);
    target.storage()->bump_version();
  } else {
    write(target, core::unary_values(op, target, name, p, q));
  }
  return target;
}

/// Overwrites all values; the history before it does not matter any more.
template <class Fill>
Tensor overwrite(const Tensor& target, const char* name, Fill fill) {
  check_change(target, name, false);
  if (target.is_contiguous()) {
    fill(target);
    target.storage()->bump_version();
  } else {
    const Tensor dense = core::make_like(target);
    fill(dense);
    write(target, dense);
  }
  target.impl()->grad_fn = nullptr;
  return target;
}

}  // namespace

Tensor Tensor::add_(const Tensor& other) const { return change(Binary::kAdd, *this, other, "add_"); }
Tensor Tensor::sub_(const Tensor& other) const { return change(Binary::kSub, *this, other, "sub_"); }
Tensor Tensor::mul_(const Tensor& other) const { return change(Binary::kMul, *this, other, "mul_"); }
Tensor Tensor::div_(const Tensor& other) const { return change(Binary::kDiv, *this, other, "div_"); }
Tensor Tensor::add_(Scalar other) const { return change(Unary::kAdd, *this, other, "add_"); }
Tensor Tensor::mul_(Scalar other) const { return change(Unary::kMul, *this, other, "mul_"); }
Tensor Tensor::div_(Scalar other) const { return change(Unary::kDiv, *this, other, "div_"); }
Tensor Tensor::sub_(Scalar other) const {
  return add_(other.is_floating_point() ? Scalar(-other.to_double()) : Scalar(-other.to_int64()));
}
Tensor Tensor::clamp_(Scalar low, Scalar high) const { return change(Unary::kClamp, *this, low, "clamp_", high); }

Tensor Tensor::add_(const Tensor& other, Scalar alpha) const {
  const TensorImpl& self = impl_of(*this, "add_");
  const bool dense = self.sizes == other.sizes() && self.dtype == other.dtype() && is_contiguous() && other.is_contiguous();
  if (!dense || !is_floating_point() || autograd::recording({this, &other})) return add_(other.mul(alpha));
  check_change(*this, "add_", false);
  core::check_same_device(*this, other, "add_");
  core::backend_of(*this).axpy(self.dtype, self.numel, alpha.to_double(), other.raw_data(), raw_data());
  self.storage->bump_version();
  return *this;
}

Tensor Tensor::fill_(Scalar value) const {
  return overwrite(*this, "fill_", [&](const Tensor& t) { core::backend_of(t).fill(t.raw_data(), t.dtype(), t.numel(), value); });
}
Tensor Tensor::zero_() const { return fill_(0); }

Tensor Tensor::copy_(const Tensor& source) const {
  const bool recorded = autograd::recording({&source}) && is_floating_point() && source.is_floating_point();
  check_change(*this, "copy_", recorded);
  impl_of(source, "copy_");
  check_fits(*this, source, "copy_");
  const Tensor history = recorded ? source.to(device(), dtype()).expand(sizes()) : Tensor();
  write(*this, source);
  impl_->grad_fn = recorded ? autograd::edge_of(history) : nullptr;
  return *this;
}

Tensor Tensor::uniform_(double low, double high) const {
  core::check_real(*this, "uniform_");
  return overwrite(*this, "uniform_", [&](const Tensor& t) {
    core::backend_of(t).uniform(t.dtype(), t.numel(), t.raw_data(), core::next_draw(t), low, high);
  });
}

Tensor Tensor::normal_(double mean, double std) const {
  core::check_real(*this, "normal_");
  return overwrite(*this, "normal_", [&](const Tensor& t) {
    core::backend_of(t).normal(t.dtype(), t.numel(), t.raw_data(), core::next_draw(t), mean, std);
  });
}

Tensor& Tensor::operator+=(const Tensor& other) { return add_(other), *this; }
Tensor& Tensor::operator-=(const Tensor& other) { return sub_(other), *this; }
Tensor& Tensor::operator*=(const Tensor& other) { return mul_(other), *this; }
Tensor& Tensor::operator/=(const Tensor& other) { return div_(other), *this; }
Tensor& Tensor::operator+=(Scalar other) { return add_(other), *this; }
Tensor& Tensor::operator-=(Scalar other) { return sub_(other), *this; }
Tensor& Tensor::operator*=(Scalar other) { return mul_(other), *this; }
Tensor& Tensor::operator/=(Scalar other) { return div_(other), *this; }

}  // namespace hvd
