// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations and their gradients.
#include "core/elementwise.hpp"

#include "core/autocast.hpp"

#include <hvd/context.hpp>

namespace hvd {

using autograd::Node;
using autograd::record;
using backends::Binary;
using backends::Unary;
using Grads = std::vector<Tensor>;

namespace core {

Tensor binary_values(Binary op, const Tensor& a, const Tensor& b, const char* name) {
  check_same_device(a, b, name);
  Dtype dtype = promote(a, b);
  if (op == Binary::kDiv && !is_floating_point(dtype)) dtype = default_dtype();
  if (dtype == Dtype::kBool) dtype = Dtype::kInt64;
  const Tensor x = a.dtype() == dtype ? a : a.detach().to(dtype), y = b.dtype() == dtype ? b : b.detach().to(dtype);
  const Tensor out = make(broadcast_sizes(a.sizes(), b.sizes(), name), dtype, a.device());
  backend_of(out).binary(op, extents(out.sizes()), operand(out), operand(x, out.sizes()), operand(y, out.sizes()));
  return out;
}

Tensor unary_values(Unary op, const Tensor& x, const char* name, Scalar p, Scalar q) {
  impl_of(x, name);
  const Tensor in = x.detach().contiguous();
  const Tensor out = make_like(in);
  backend_of(in).unary(op, in.dtype(), in.numel(), in.raw_data(), out.raw_data(), p, q);
  return out;
}

Tensor for_scalar(const Tensor& x, Scalar value, bool divides) {
  const bool real = divides || value.is_floating_point();
  if (real && !x.is_floating_point()) return x.to(default_dtype());
  return x.dtype() == Dtype::kBool ? x.to(Dtype::kInt64) : x;
}

Tensor real_operand(const Tensor& x, const char* name) {
  impl_of(x, name);
  return x.is_floating_point() ? x : x.to(default_dtype());
}

namespace {

/// The gradient of an operand: summed over what was broadcast, in the operand's dtype.
Tensor reduce_to(const Tensor& grad, const std::vector<int64_t>& sizes, Dtype dtype) { return sum_to(grad, sizes).to(dtype); }

struct Shapes {
  std::vector<int64_t> a, b;
  Dtype dtype_a, dtype_b;
  Shapes(const Tensor& x, const Tensor& y) : a(x.sizes()), b(y.sizes()), dtype_a(x.dtype()), dtype_b(y.dtype()) {}
  Tensor to_a(const Tensor& g) const { return reduce_to(g, a, dtype_a); }
  Tensor to_b(const Tensor& g) const { return reduce_to(g, b, dtype_b); }
};

}  // namespace
}  // namespace core

using core::binary_values;
using core::for_scalar;
using core::real_operand;
using core::Shapes;
using core::unary_values;

Tensor Tensor::add(const Tensor& other) const {
  const Tensor out = binary_values(Binary::kAdd, *this, other, "add");
  if (!autograd::recording({this, &other})) return out;
  return record("add", out, {*this, other}, {}, [s = Shapes(*this, other)](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? s.to_a(g) : Tensor(), node.wants(1) ? s.to_b(g) : Tensor()};
  });
}

Tensor Tensor::sub(const Tensor& other) const {
  const Tensor out = binary_values(Binary::kSub, *this, other, "sub");
  if (!autograd::recording({this, &other})) return out;
  return record("sub", out, {*this, other}, {}, [s = Shapes(*this, other)](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? s.to_a(g) : Tensor(), node.wants(1) ? s.to_b(g).neg() : Tensor()};
  });
}

Tensor Tensor::mul(const Tensor& other) const {
  const Tensor out = binary_values(Binary::kMul, *this, other, "mul");
  if (!autograd::recording({this, &other})) return out;
  return record("mul", out, {*this, other}, {*this, other}, [s = Shapes(*this, other)](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? s.to_a(g.mul(node.saved(1))) : Tensor(), node.wants(1) ? s.to_b(g.mul(node.saved(0))) : Tensor()};
  });
}

Tensor Tensor::div(const Tensor& other) const {
  const Tensor out = binary_values(Binary::kDiv, *this, other, "div");
  if (!autograd::recording({this, &other})) return out;
  return record("div", out, {*this, other}, {other, out}, [s = Shapes(*this, other)](const Node& node, const Tensor& g) {
    const Tensor quotient = g.div(node.saved(0));
    return Grads{node.wants(0) ? s.to_a(quotient) : Tensor(),
                 node.wants(1) ? s.to_b(quotient.mul(node.saved(1))).neg() : Tensor()};
  });
}

Tensor Tensor::add(Scalar other) const {
  const Tensor x = for_scalar(*this, other);
  return record("add", unary_values(Unary::kAdd, x, "add", other), {x}, {}, [](const Node&, const Tensor& g) { return Grads{g}; });
}

Tensor Tensor::sub(Scalar other) const {
  const Tensor x = for_scalar(*this, other);
  const Scalar minus = other.is_floating_point() ? Scalar(-other.to_double()) : Scalar(-other.to_int64());
  return record("sub", unary_values(Unary::kAdd, x, "sub", minus), {x}, {}, [](const Node&, const Tensor& g) { return Grads{g}; });
}

Tensor Tensor::mul(Scalar other) const {
  const Tensor x = for_scalar(*this, other);
  return record("mul", unary_values(Unary::kMul, x, "mul", other), {x}, {},
                [other](const Node&, const Tensor& g) { return Grads{g.mul(other)}; });
}

Tensor Tensor::div(Scalar other) const {
  const Tensor x = for_scalar(*this, other, true);
  return record("div", unary_values(Unary::kDiv, x, "div", other), {x}, {},
                [other](const Node&, const Tensor& g) { return Grads{g.div(other)}; });
}

Tensor operator-(Scalar a, const Tensor& b) {
  const Tensor x = for_scalar(b, a);
  return record("rsub", unary_values(Unary::kRsub, x, "sub", a), {x}, {}, [](const Node&, const Tensor& g) { return Grads{g.neg()}; });
}

Tensor operator/(Scalar a, const Tensor& b) {
  const Tensor x = for_scalar(b, a, true);
  const Tensor out = unary_values(Unary::kRdiv, x, "div", a);
  return record("rdiv", out, {x}, {x, out},
                [](const Node& node, const Tensor& g) { return Grads{g.mul(node.saved(1)).div(node.saved(0)).neg()}; });
}

Tensor Tensor::neg() const {
  const Tensor x = for_scalar(*this, 0);
  return record("neg", unary_values(Unary::kNeg, x, "neg"), {x}, {}, [](const Node&, const Tensor& g) { return Grads{g.neg()}; });
}

Tensor Tensor::square() const {
  const Tensor x = core::autocast_wide(for_scalar(*this, 0));
  return record("square", unary_values(Unary::kSquare, x, "square"), {x}, {x},
                [](const Node& node, const Tensor& g) { return Grads{g.mul(node.saved(0)).mul(2)}; });
}

Tensor Tensor::pow(Scalar exponent) const {
  const double e = exponent.to_double();
  if (e == 2) return square();
  const Tensor x = core::autocast_wide(real_operand(*this, "pow"));
  return record("pow", unary_values(Unary::kPow, x, "pow", exponent), {x}, {x}, [e](const Node& node, const Tensor& g) {
    if (e == 0) return Grads{zeros_like(g)};
    return Grads{g.mul(node.saved(0).pow(e - 1)).mul(e)};
  });
}

Tensor Tensor::sqrt() const {
  const Tensor x = real_operand(*this, "sqrt"), out = unary_values(Unary::kSqrt, x, "sqrt");
  return record("sqrt", out, {x}, {out}, [](const Node& node, const Tensor& g) { return Grads{g.div(node.saved(0)).mul(0.5)}; });
}

Tensor Tensor::exp() const {
  const Tensor x = core::autocast_wide(real_operand(*this, "exp")), out = unary_values(Unary::kExp, x, "exp");
  return record("exp", out, {x}, {out}, [](const Node& node, const Tensor& g) { return Grads{g.mul(node.saved(0))}; });
}

Tensor Tensor::log() const {
  const Tensor x = core::autocast_wide(real_operand(*this, "log"));
  return record("log", unary_values(Unary::kLog, x, "log"), {x}, {x},
                [](const Node& node, const Tensor& g) { return Grads{g.div(node.saved(0))}; });
}

namespace {

/// op(g, value), where g lies when nobody else can see it there: a step then touches less memory.
Tensor gradient_values(Binary op, const Tensor& g, const Tensor& value, const char* name) {
  const bool alone = g.impl().use_count() == 1 && g.impl()->storage.use_count() == 1 && g.is_contiguous();
  if (!alone || g.dtype() != value.dtype() || g.sizes() != value.sizes()) return binary_values(op, g, value, name);
  core::check_same_device(g, value, name);
  core::backend_of(g).binary(op, core::extents(g.sizes()), core::operand(g), core::operand(g), core::operand(value));
  g.storage()->bump_version();
  return g;
}

/// An operation whose gradient is a binary operation of the incoming gradient and the saved input or output.
Tensor unary_with_grad(Unary op, Binary grad, bool save_output, const Tensor& x, const char* name) {
  const Tensor out = unary_values(op, x, name);
  return record(name, out, {x}, {save_output ? out : x},
                [grad, name](const Node& node, const Tensor& g) { return Grads{gradient_values(grad, g, node.saved(0), name)}; });
}

}  // namespace

Tensor Tensor::abs() const { return unary_with_grad(Unary::kAbs, Binary::kAbsGrad, false, for_scalar(*this, 0), "abs"); }
Tensor Tensor::tanh() const { return unary_with_grad(Unary::kTanh, Binary::kTanhGrad, true, real_operand(*this, "tanh"), "tanh"); }
Tensor Tensor::sigmoid() const {
  return unary_with_grad(Unary::kSigmoid, Binary::kSigmoidGrad, true, real_operand(*this, "sigmoid"), "sigmoid");
}
Tensor Tensor::relu() const { return unary_with_grad(Unary::kRelu, Binary::kReluGrad, true, for_scalar(*this, 0), "relu"); }

Tensor Tensor::clamp(Scalar low, Scalar high) const {
  const Tensor x = for_scalar(*this, low.is_floating_point() ? low : high);
  return record("clamp", unary_values(Unary::kClamp, x, "clamp", low, high), {x}, {x}, [low, high](const Node& node, const Tensor& g) {
    const Tensor& in = node.saved(0);
    return Grads{g.mul(in.ge(low).to(g.dtype())).mul(in.le(high).to(g.dtype()))};
  });
}

Tensor Tensor::masked_fill(const Tensor& mask, Scalar value) const {
  core::check_same_device(*this, mask, "masked_fill");
  if (mask.dtype() != Dtype::kBool) throw Error(std::string("masked_fill: a bool mask expected, not ") + dtype_name(mask.dtype()));
  if (core::broadcast_sizes(sizes(), mask.sizes(), "masked_fill") != sizes())
    throw Error("masked_fill: a mask " + to_string(mask.sizes()) + " for a tensor " + to_string(sizes()));
  const Tensor out = core::make_like(*this);
  core::backend_of(*this).masked_fill(core::extents(sizes()), core::operand(out), core::operand(*this), core::operand(mask, sizes()), value);
  return record("masked_fill", out, {*this}, {mask}, [](const Node& node, const Tensor& g) { return Grads{g.masked_fill(node.saved(0), 0)}; });
}

}  // namespace hvd
