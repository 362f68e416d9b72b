// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

namespace hvd::backends {

namespace {

template <class T, class Acc, class Out>
void sum_all(int64_t outer, int64_t length, int64_t inner, const T* in, Out* out) {
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o, in += length) {
      Acc total = 0;
#pragma omp simd reduction(+ : total)
      for (int64_t j = 0; j < length; ++j) total += static_cast<Acc>(in[j]);
      out[o] = static_cast<Out>(total);
    }
    return;
  }
  std::vector<Acc> total(inner);
  for (int64_t o = 0; o < outer; ++o, out += inner) {
    std::fill(total.begin(), total.end(), Acc(0));
    for (int64_t j = 0; j < length; ++j, in += inner)
      for (int64_t i = 0; i < inner; ++i) total[i] += static_cast<Acc>(in[i]);
    for (int64_t i = 0; i < inner; ++i) out[i] = static_cast<Out>(total[i]);
  }
}

template <class T>
bool beats(Extremum op, T candidate, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best)) return false;
    if (std::isnan(candidate)) return true;
  }
  return op == Extremum::kMax ? candidate > best : candidate < best;
}

}  // namespace

void Cpu::sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      sum_all<T, double>(outer, length, inner, static_cast<const T*>(in), static_cast<T*>(out));
    else
      sum_all<T, int64_t>(outer, length, inner, static_cast<const T*>(in), static_cast<int64_t*>(out));
  });
}

void Cpu::extremum(Extremum op, Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* values,
                   int64_t* indices) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const T* x = static_cast<const T*>(in) + o * length * inner + i;
        int64_t best = 0;
        for (int64_t j = 1; j < length; ++j)
          if (beats(op, x[j * inner], x[best * inner])) best = j;
        if (values) static_cast<T*>(values)[o * inner + i] = x[best * inner];
        if (indices) indices[o * inner + i] = best;
      }
  });
}

double Cpu::sum_squares(Dtype dtype, int64_t n, const void* in) const {
  double total = 0;
  dispatch_real("norm", dtype, [&](auto zero) {
    const auto* x = static_cast<const decltype(zero)*>(in);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    total = sum;
  });
  return total;
}

double Cpu::max_magnitude(Dtype dtype, int64_t n, const void* in) const {
  double largest = 0;
  dispatch_real("norm", dtype, [&](auto zero) {
    const auto* x = static_cast<const decltype(zero)*>(in);
    for (int64_t i = 0; i < n; ++i)
      if (!(std::abs(x[i]) <= largest)) largest = std::isnan(largest) ? largest : std::abs(static_cast<double>(x[i]));
  });
  return largest;
}

}  // namespace hvd::backends
