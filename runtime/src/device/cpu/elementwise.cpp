// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"
#include "device/cpu/strided.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace hvd::backends {

namespace {

template <class T, class F>
void map(int64_t n, const T* in, T* out, F f) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}

// GELU (Hendrycks, Gimpel 2016): x Phi(x), and 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
constexpr double kRootHalf = 0.70710678118654752440, kRootTwoOverPi = 0.79788456080286535588, kCubic = 0.044715;
constexpr double kNormalDensity = 0.39894228040143267794;  // 1 / sqrt(2 pi)

template <class T>
T gelu(T x) {
  return T(0.5) * x * (T(1) + std::erf(x * T(kRootHalf)));
}
template <class T>
T gelu_grad(T g, T x) {
  return g * (T(0.5) * (T(1) + std::erf(x * T(kRootHalf))) + x * T(kNormalDensity) * std::exp(T(-0.5) * x * x));
}
template <class T>
T gelu_tanh(T x) {
  return T(0.5) * x * (T(1) + std::tanh(T(kRootTwoOverPi) * (x + T(kCubic) * x * x * x)));
}
template <class T>
T gelu_tanh_grad(T g, T x) {
  const T t = std::tanh(T(kRootTwoOverPi) * (x + T(kCubic) * x * x * x));
  const T slope = T(kRootTwoOverPi) * (T(1) + T(3) * T(kCubic) * x * x);
  return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
}

/// The operations that any number type has; false when `op` is another one.
template <class T>
bool unary_number(Unary op, int64_t n, const T* in, T* out, T p, T q) {
  switch (op) {
    case Unary::kNeg: map(n, in, out, [](T x) { return -x; }); return true;
    case Unary::kSquare: map(n, in, out, [](T x) { return x * x; }); return true;
    case Unary::kAbs: map(n, in, out, [](T x) { return x < 0 ? -x : (x == 0 ? T(0) : x); }); return true;
    case Unary::kRelu: map(n, in, out, [](T x) { return x <= 0 ? T(0) : x; }); return true;  // NaN stays NaN
    case Unary::kClamp: map(n, in, out, [=](T x) { return x < p ? p : (x > q ? q : x); }); return true;
    case Unary::kAdd: map(n, in, out, [=](T x) { return x + p; }); return true;
    case Unary::kRsub: map(n, in, out, [=](T x) { return p - x; }); return true;
    case Unary::kMul: map(n, in, out, [=](T x) { return x * p; }); return true;
    default: return false;
  }
}

template <class T>
void unary_real(Unary op, int64_t n, const T* in, T* out, T p, T q) {
  if (unary_number(op, n, in, out, p, q)) return;
  switch (op) {
    case Unary::kExp: return map(n, in, out, [](T x) { return std::exp(x); });
    case Unary::kLog: return map(n, in, out, [](T x) { return std::log(x); });
    case Unary::kSqrt: return map(n, in, out, [](T x) { return std::sqrt(x); });
    case Unary::kTanh: return map(n, in, out, [](T x) { return std::tanh(x); });
    case Unary::kSigmoid: return map(n, in, out, [](T x) { return T(1) / (T(1) + std::exp(-x)); });
    case Unary::kPow: return map(n, in, out, [=](T x) { return std::pow(x, p); });
    case Unary::kDiv: return map(n, in, out, [=](T x) { return x / p; });
    case Unary::kRdiv: return map(n, in, out, [=](T x) { return p / x; });
    case Unary::kStep: return map(n, in, out, [=](T x) { return x > 0 ? p : q; });
    case Unary::kLeakyRelu: return map(n, in, out, [=](T x) { return x > 0 ? x : x * p; });
    case Unary::kSoftplus: return map(n, in, out, [](T x) { return (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::abs(x))); });
    case Unary::kGelu: return map(n, in, out, [](T x) { return gelu(x); });
    case Unary::kGeluTanh: return map(n, in, out, [](T x) { return gelu_tanh(x); });
    default: return;
  }
}

/// Runs f over the elements, with tight loops for the strides that occur: all dense, b repeated, a repeated.
template <class T, class R, class F>
void zip(const Extents& extents, const Operand& out, const Operand& a, const Operand& b, F f) {
  for_each_run<3>(extents, {&out, &a, &b}, [&](const auto& offset, int64_t n, const auto& step) {
    R* o = static_cast<R*>(out.data) + offset[0];
    const T* x = static_cast<const T*>(a.data) + offset[1];
    const T* y = static_cast<const T*>(b.data) + offset[2];
    if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) o[i] = f(x[i], y[i]);
    } else if (step[0] == 1 && step[1] == 1 && step[2] == 0) {
      const T value = *y;
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) o[i] = f(x[i], value);
    } else {
      for (int64_t i = 0; i < n; ++i) o[i * step[0]] = f(x[i * step[1]], y[i * step[2]]);
    }
  });
}

template <class T>
void binary_number(Binary op, const Extents& e, const Operand& out, const Operand& a, const Operand& b) {
  switch (op) {
    case Binary::kAdd: return zip<T, T>(e, out, a, b, [](T x, T y) { return x + y; });
    case Binary::kSub: return zip<T, T>(e, out, a, b, [](T x, T y) { return x - y; });
    case Binary::kMul: return zip<T, T>(e, out, a, b, [](T x, T y) { return x * y; });
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Binary::kDiv: return zip<T, T>(e, out, a, b, [](T x, T y) { return x / y; });
      case Binary::kReluGrad: return zip<T, T>(e, out, a, b, [](T g, T y) { return y > 0 ? g : T(0); });
      case Binary::kSigmoidGrad: return zip<T, T>(e, out, a, b, [](T g, T y) { return g * y * (T(1) - y); });
      case Binary::kTanhGrad: return zip<T, T>(e, out, a, b, [](T g, T y) { return g * (T(1) - y * y); });
      case Binary::kAbsGrad: return zip<T, T>(e, out, a, b, [](T g, T x) { return x > 0 ? g : (x < 0 ? -g : T(0)); });
      case Binary::kGeluGrad: return zip<T, T>(e, out, a, b, [](T g, T x) { return gelu_grad(g, x); });
      case Binary::kGeluTanhGrad: return zip<T, T>(e, out, a, b, [](T g, T x) { return gelu_tanh_grad(g, x); });
      default: return;
    }
  } else {
    unsupported("division", out.dtype);
  }
}

template <class T>
void compare_all(Compare op, const Extents& e, const Operand& out, const Operand& a, const Operand& b) {
  switch (op) {
    case Compare::kEq: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x == y; });
    case Compare::kNe: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x != y; });
    case Compare::kLt: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x < y; });
    case Compare::kLe: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x <= y; });
    case Compare::kGt: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x > y; });
    case Compare::kGe: return zip<T, bool>(e, out, a, b, [](T x, T y) { return x >= y; });
  }
}

}  // namespace

void Cpu::unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const {
  if (dtype == Dtype::kInt64) {
    if (!unary_number(op, n, static_cast<const int64_t*>(in), static_cast<int64_t*>(out), p.to_int64(), q.to_int64()))
      unsupported("this elementwise operation", dtype);
    return;
  }
  dispatch_real("an elementwise operation", dtype, [&](auto zero) {
    using T = decltype(zero);
    unary_real(op, n, static_cast<const T*>(in), static_cast<T*>(out), p.to<T>(), q.to<T>());
  });
}

void Cpu::binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  dispatch_number("an elementwise operation", out.dtype,
                  [&](auto zero) { binary_number<decltype(zero)>(op, extents, out, a, b); });
}

void Cpu::compare(Compare op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  dispatch_all(a.dtype, [&](auto zero) { compare_all<decltype(zero)>(op, extents, out, a, b); });
}

void Cpu::classify(Classify op, Dtype dtype, int64_t n, const void* in, bool* out) const {
  if (dtype == Dtype::kInt64 || dtype == Dtype::kBool) {
    std::fill(out, out + n, op == Classify::kFinite);
    return;
  }
  dispatch_real("isnan", dtype, [&](auto zero) {
    const auto* x = static_cast<const decltype(zero)*>(in);
    for (int64_t i = 0; i < n; ++i) out[i] = op == Classify::kNan ? std::isnan(x[i]) : std::isfinite(x[i]);
  });
}

void Cpu::masked_fill(const Extents& extents, const Operand& out, const Operand& in, const Operand& mask, Scalar value) const {
  dispatch_all(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T filled = value.to<T>();
    for_each_run<3>(extents, {&out, &in, &mask}, [&](const auto& offset, int64_t n, const auto& step) {
      T* o = static_cast<T*>(out.data) + offset[0];
      const T* x = static_cast<const T*>(in.data) + offset[1];
      const bool* m = static_cast<const bool*>(mask.data) + offset[2];
      for (int64_t i = 0; i < n; ++i) o[i * step[0]] = m[i * step[2]] ? filled : x[i * step[1]];
    });
  });
}

void Cpu::axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const {
  dispatch_real("add_", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T a = static_cast<T>(alpha);
    const T* in = static_cast<const T*>(x);
    T* out = static_cast<T*>(y);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] += a * in[i];
  });
}

void Cpu::add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const {
  dispatch_real("bias", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* b = static_cast<const T*>(bias);
    for (int64_t r = 0; r < rows; ++r) {
      T* row = static_cast<T*>(x) + r * columns;
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) row[i] += b[i];
    }
  });
}

}  // namespace hvd::backends
