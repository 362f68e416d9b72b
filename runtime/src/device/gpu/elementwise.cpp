// SPDX-License-Identifier: Apache-2.0
#include "device/formulas.hpp"
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

// bfloat16 and float16 are read and written as such and computed in float32: T is how numbers are stored, float_of<T> what f takes and gives.

template <class T, class F>
void map(const char* name, int64_t n, const T* in, T* out, F f) {
  constexpr int kPack = pack_of<T>();
  for_packs<kPack>(name, n, packs_lie<kPack>(in) && packs_lie<kPack>(out), [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    Pack<T, N> pack = load_pack<N>(in + i, true);
    for (int k = 0; k < N; ++k) pack.at[k] = static_cast<T>(f(static_cast<float_of<T>>(pack.at[k])));
    store_pack<N>(out + i, pack, true);
  });
}

/// The operations that any number type has. One kernel for all: the choice is the same in all threads.
constexpr bool is_arithmetic(Unary op) {
  switch (op) {
    case Unary::kNeg:
    case Unary::kSquare:
    case Unary::kAbs:
    case Unary::kRelu:
    case Unary::kClamp:
    case Unary::kAdd:
    case Unary::kRsub:
    case Unary::kMul: return true;
    default: return false;
  }
}
template <class T>
HVD_HD T arithmetic(Unary op, T x, T p, T q) {
  switch (op) {
    case Unary::kNeg: return -x;
    case Unary::kSquare: return x * x;
    case Unary::kAbs: return x < 0 ? -x : (x == 0 ? T(0) : x);
    case Unary::kRelu: return x <= 0 ? T(0) : x;  // NaN stays NaN
    case Unary::kClamp: return x < p ? p : (x > q ? q : x);
    case Unary::kAdd: return x + p;
    case Unary::kRsub: return p - x;
    default: return x * p;
  }
}
template <class S, class T = float_of<S>>
void unary_arithmetic(Unary op, int64_t n, const S* in, S* out, T p, T q) {
  map("elementwise", n, in, out, [=] HVD_KERNEL(T x) { return arithmetic(op, x, p, q); });
}

template <class S, class T = float_of<S>>
void unary_real(Unary op, int64_t n, const S* in, S* out, T p, T q) {
  switch (op) {
    case Unary::kExp: return map("exp", n, in, out, [=] HVD_KERNEL(T x) { return std::exp(x); });
    case Unary::kLog: return map("log", n, in, out, [=] HVD_KERNEL(T x) { return std::log(x); });
    case Unary::kSqrt: return map("sqrt", n, in, out, [=] HVD_KERNEL(T x) { return std::sqrt(x); });
    case Unary::kTanh: return map("tanh", n, in, out, [=] HVD_KERNEL(T x) { return std::tanh(x); });
    case Unary::kSigmoid: return map("sigmoid", n, in, out, [=] HVD_KERNEL(T x) { return T(1) / (T(1) + std::exp(-x)); });
    case Unary::kPow: return map("pow", n, in, out, [=] HVD_KERNEL(T x) { return std::pow(x, p); });
    case Unary::kDiv: return map("div", n, in, out, [=] HVD_KERNEL(T x) { return x / p; });
    case Unary::kRdiv: return map("div", n, in, out, [=] HVD_KERNEL(T x) { return p / x; });
    case Unary::kStep: return map("step", n, in, out, [=] HVD_KERNEL(T x) { return x > 0 ? p : q; });
    case Unary::kLeakyRelu: return map("leaky_relu", n, in, out, [=] HVD_KERNEL(T x) { return x > 0 ? x : x * p; });
    case Unary::kSoftplus: return map("softplus", n, in, out, [=] HVD_KERNEL(T x) { return formulas::softplus(x); });
    case Unary::kGelu: return map("gelu", n, in, out, [=] HVD_KERNEL(T x) { return formulas::gelu(x); });
    case Unary::kGeluTanh: return map("gelu", n, in, out, [=] HVD_KERNEL(T x) { return formulas::gelu_tanh(x); });
    default: return unary_arithmetic(op, n, in, out, p, q);
  }
}

template <class T, class F>
void zip(const char* name, const StridedLoop<3>& loop, T* out, const T* a, const T* b, F f) {
  constexpr int kPack = pack_of<T>();
  if (is_dense(loop) && packs_lie<kPack>(out) && packs_lie<kPack>(a) && packs_lie<kPack>(b))
    return for_packs<kPack>(name, loop.count, true, [=] HVD_KERNEL(int64_t i, auto count) {
      constexpr int N = decltype(count)::value;
      Pack<T, N> x = load_pack<N>(a + i, true);
      const Pack<T, N> y = load_pack<N>(b + i, true);
      for (int k = 0; k < N; ++k) x.at[k] = static_cast<T>(f(static_cast<float_of<T>>(x.at[k]), static_cast<float_of<T>>(y.at[k])));
      store_pack<N>(out + i, x, true);
    });
  for_each(name, loop.count, [=] HVD_KERNEL(int64_t i) {
    const Offsets<3> o = locate(loop, i);
    out[o.at[0]] = static_cast<T>(f(static_cast<float_of<T>>(a[o.at[1]]), static_cast<float_of<T>>(b[o.at[2]])));
  });
}

template <class T>
HVD_HD T arithmetic(Binary op, T x, T y) {
  if (op == Binary::kAdd) return x + y;
  return op == Binary::kSub ? x - y : x * y;
}
template <class S, class T = float_of<S>>
void binary_arithmetic(Binary op, const StridedLoop<3>& loop, S* out, const S* a, const S* b) {
  zip("elementwise", loop, out, a, b, [=] HVD_KERNEL(T x, T y) { return arithmetic(op, x, y); });
}

/// The gradients that take no function of the mathematical library: g the incoming one, y the output or input.
template <class T>
HVD_HD T simple_grad(Binary op, T g, T y) {
  switch (op) {
    case Binary::kReluGrad: return y > 0 ? g : T(0);
    case Binary::kSigmoidGrad: return g * y * (T(1) - y);
    case Binary::kTanhGrad: return g * (T(1) - y * y);
    default: return y > 0 ? g : (y < 0 ? -g : T(0));  // of abs
  }
}

template <class S, class T = float_of<S>>
void binary_real(Binary op, const StridedLoop<3>& loop, S* out, const S* a, const S* b) {
  switch (op) {
    case Binary::kDiv: return zip("div", loop, out, a, b, [=] HVD_KERNEL(T x, T y) { return x / y; });
    case Binary::kGeluGrad: return zip("gelu", loop, out, a, b, [=] HVD_KERNEL(T g, T x) { return formulas::gelu_grad(g, x); });
    case Binary::kGeluTanhGrad: return zip("gelu", loop, out, a, b, [=] HVD_KERNEL(T g, T x) { return formulas::gelu_tanh_grad(g, x); });
    default: return zip("gradient", loop, out, a, b, [=] HVD_KERNEL(T g, T y) { return simple_grad(op, g, y); });
  }
}

template <class T>
void compare_all(Compare op, const StridedLoop<3>& loop, bool* out, const T* a, const T* b) {
  for_each("compare", loop.count, [=] HVD_KERNEL(int64_t i) {
    const Offsets<3> o = locate(loop, i);
    out[o.at[0]] = formulas::compare(op, a[o.at[1]], b[o.at[2]]);
  });
}

template <class T>
void classify_all(Classify op, int64_t n, const T* x, bool* out) {
  for_each("isnan", n, [=] HVD_KERNEL(int64_t i) {
    const float_of<T> v = static_cast<float_of<T>>(x[i]);
    const bool nan = v != v, finite = v - v == 0;  // infinity less itself is no number
    out[i] = op == Classify::kNan ? nan : finite;
  });
}

template <class T>
void fill_masked(const StridedLoop<3>& loop, T* out, const T* in, const bool* mask, T value) {
  for_each("masked_fill", loop.count, [=] HVD_KERNEL(int64_t i) {
    const Offsets<3> o = locate(loop, i);
    out[o.at[0]] = mask[o.at[2]] ? value : in[o.at[1]];
  });
}

template <class S, class T = float_of<S>>
void add_scaled(int64_t n, T alpha, const S* x, S* y) {
  constexpr int kPack = pack_of<S>();
  for_packs<kPack>("axpy", n, packs_lie<kPack>(x) && packs_lie<kPack>(y), [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    Pack<S, N> sum = load_pack<N>(y + i, true);
    const Pack<S, N> more = load_pack<N>(x + i, true);
    for (int k = 0; k < N; ++k) sum.at[k] = static_cast<S>(static_cast<T>(sum.at[k]) + alpha * static_cast<T>(more.at[k]));
    store_pack<N>(y + i, sum, true);
  });
}

template <class S, class T = float_of<S>>
void add_to_rows(int64_t n, int64_t columns, const S* bias, S* x) {
  constexpr int kPack = pack_of<S>();
  for_packs<kPack>("bias", n, columns % kPack == 0 && packs_lie<kPack>(x) && packs_lie<kPack>(bias), [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    Pack<S, N> sum = load_pack<N>(x + i, true);
    const Pack<S, N> more = load_pack<N>(bias + (i - quotient(i, columns) * columns), true);
    for (int k = 0; k < N; ++k) sum.at[k] = static_cast<S>(static_cast<T>(sum.at[k]) + static_cast<T>(more.at[k]));
    store_pack<N>(x + i, sum, true);
  });
}

}  // namespace

void Gpu::unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const {
  if (dtype == Dtype::kInt64) {
    if (!is_arithmetic(op)) unsupported("this elementwise operation", dtype);
    return unary_arithmetic(op, n, static_cast<const int64_t*>(in), static_cast<int64_t*>(out), p.to_int64(), q.to_int64());
  }
  dispatch_floating("an elementwise operation", dtype, [&](auto zero) {
    using T = decltype(zero);
    unary_real(op, n, static_cast<const T*>(in), static_cast<T*>(out), p.to<float_of<T>>(), q.to<float_of<T>>());
  });
}

void Gpu::binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  const StridedLoop<3> loop = strided_loop<3>(extents, {&out, &a, &b});
  const bool arithmetic = op == Binary::kAdd || op == Binary::kSub || op == Binary::kMul;
  if (arithmetic) {
    const auto run = [&](auto zero) {
      using T = decltype(zero);
      binary_arithmetic(op, loop, static_cast<T*>(out.data), static_cast<const T*>(a.data), static_cast<const T*>(b.data));
    };
    return is_low_precision(out.dtype) ? dispatch_floating("an elementwise operation", out.dtype, run)
                                       : dispatch_number("an elementwise operation", out.dtype, run);
  }
  dispatch_floating("division", out.dtype, [&](auto zero) {
    using T = decltype(zero);
    binary_real(op, loop, static_cast<T*>(out.data), static_cast<const T*>(a.data), static_cast<const T*>(b.data));
  });
}

void Gpu::compare(Compare op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  const StridedLoop<3> loop = strided_loop<3>(extents, {&out, &a, &b});
  dispatch_all(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    compare_all(op, loop, static_cast<bool*>(out.data), static_cast<const T*>(a.data), static_cast<const T*>(b.data));
  });
}

void Gpu::classify(Classify op, Dtype dtype, int64_t n, const void* in, bool* out) const {
  if (dtype == Dtype::kInt64 || dtype == Dtype::kBool) return fill(out, Dtype::kBool, n, op == Classify::kFinite);
  dispatch_floating("isnan", dtype, [&](auto zero) { classify_all(op, n, static_cast<const decltype(zero)*>(in), out); });
}

void Gpu::masked_fill(const Extents& extents, const Operand& out, const Operand& in, const Operand& mask, Scalar value) const {
  const StridedLoop<3> loop = strided_loop<3>(extents, {&out, &in, &mask});
  dispatch_all(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    fill_masked(loop, static_cast<T*>(out.data), static_cast<const T*>(in.data), static_cast<const bool*>(mask.data), value.to<T>());
  });
}

void Gpu::axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const {
  dispatch_floating("add_", dtype, [&](auto zero) {
    using T = decltype(zero);
    add_scaled(n, static_cast<float_of<T>>(alpha), static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void Gpu::add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const {
  dispatch_floating("bias", dtype, [&](auto zero) {
    using T = decltype(zero);
    add_to_rows(rows * columns, columns, static_cast<const T*>(bias), static_cast<T*>(x));
  });
}

}  // namespace hvd::backends::gpu
