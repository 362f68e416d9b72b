// SPDX-License-Identifier: Apache-2.0
//
// Formulas of single elements, for host and kernels.
#pragma once

#include "device/device.hpp"
#include "device/host_device.hpp"

#include <cmath>
#include <type_traits>

namespace hvd::backends::formulas {

// GELU (Hendrycks, Gimpel 2016): x Phi(x), and 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
inline constexpr double kRootHalf = 0.70710678118654752440, kRootTwoOverPi = 0.79788456080286535588, kCubic = 0.044715;
inline constexpr double kNormalDensity = 0.39894228040143267794;  // 1 / sqrt(2 pi)

template <class T>
HVD_HD T gelu(T x) {
  return T(0.5) * x * (T(1) + std::erf(x * T(kRootHalf)));
}
template <class T>
HVD_HD T gelu_grad(T g, T x) {
  return g * (T(0.5) * (T(1) + std::erf(x * T(kRootHalf))) + x * T(kNormalDensity) * std::exp(T(-0.5) * x * x));
}
template <class T>
HVD_HD T gelu_tanh(T x) {
  return T(0.5) * x * (T(1) + std::tanh(T(kRootTwoOverPi) * (x + T(kCubic) * x * x * x)));
}
template <class T>
HVD_HD T gelu_tanh_grad(T g, T x) {
  const T t = std::tanh(T(kRootTwoOverPi) * (x + T(kCubic) * x * x * x));
  const T slope = T(kRootTwoOverPi) * (T(1) + T(3) * T(kCubic) * x * x);
  return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
}
template <class T>
HVD_HD T softplus(T x) {
  return (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class T>
HVD_HD bool compare(Compare op, T x, T y) {
  switch (op) {
    case Compare::kEq: return x == y;
    case Compare::kNe: return x != y;
    case Compare::kLt: return x < y;
    case Compare::kLe: return x <= y;
    case Compare::kGt: return x > y;
    default: return x >= y;
  }
}

/// Whether `candidate` takes the place of `best`: NaN wins over all, and the first of equals stays.
template <class T>
HVD_HD bool beats(Extremum op, T candidate, T best) {
  if constexpr (!std::is_integral_v<T>) {
    if (best != best) return false;
    if (candidate != candidate) return true;
  }
  return op == Extremum::kMax ? candidate > best : candidate < best;
}

}  // namespace hvd::backends::formulas
