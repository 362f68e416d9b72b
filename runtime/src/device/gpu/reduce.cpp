// SPDX-License-Identifier: Apache-2.0
#include "device/formulas.hpp"
#include "device/gpu/support.hpp"

#include <cmath>

namespace hvd::backends::gpu {

namespace {

/// Sums of the rows of [outer, length]; a thread adds N neighbours first.
template <class V, int N, class T, class Out>
void sum_last(const Backend& device, int64_t outer, int64_t length, const T* in, Out* out) {
  const bool whole = packs_lie<N>(in);
  reduce(
      device, "sum", outer, length / N, false, V(0),
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const Pack<T, N> values = load_pack<N>(in + s * length + j * N, whole);
        V sum = 0;
        for (int k = 0; k < N; ++k) sum += static_cast<V>(values.at[k]);
        return sum;
      },
      Sum(), [=] HVD_KERNEL(int64_t s, const V& total) { out[s] = static_cast<Out>(total); });
}

template <class V, int N, class T, class Out>
void sum_each_column(const Backend& device, int64_t outer, int64_t length, int64_t inner, const T* in, Out* out) {
  const bool whole = packs_lie<N>(in);
  const auto term = [=] HVD_KERNEL(int64_t, int64_t i, SumsOf<V, N>& sums) {
    const Pack<T, N> values = load_pack<N>(in + i, whole);
    for (int k = 0; k < N; ++k) sums.at[k] = static_cast<V>(values.at[k]);
  };
  sum_columns<V, N>(device, "sum", outer, length, inner, term, out);
}

/// Sums over the middle of [outer, length, inner].
template <class V, class T, class Out>
void sum_middle(const Backend& device, int64_t outer, int64_t length, int64_t inner, const T* in, Out* out) {
  if (inner == 1) return with_packs<T>(length, [&](auto count) { sum_last<V, decltype(count)::value>(device, outer, length, in, out); });
  with_packs<T>(inner, [&](auto count) { sum_each_column<V, decltype(count)::value>(device, outer, length, inner, in, out); });
}

/// A value and where it stands; index -1: none yet.
template <class T>
struct Candidate {
  T value;
  int64_t index;
};

/// Of two candidates the better; of equals the first.
template <class T>
HVD_HD Candidate<T> better(Extremum op, const Candidate<T>& a, const Candidate<T>& b) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  const bool first = a.index < b.index;
  const Candidate<T>& front = first ? a : b;
  const Candidate<T>& back = first ? b : a;
  return formulas::beats(op, back.value, front.value) ? back : front;
}

template <class S, class T = float_of<S>>
void extremum_middle(const Backend& device, Extremum op, int64_t outer, int64_t length, int64_t inner, const S* in, S* values, int64_t* indices) {
  Candidate<T> none{};
  none.index = -1;
  reduce(
      device, "extremum", outer * inner, length, inner > 1, none,
      [=] HVD_KERNEL(int64_t s, int64_t j) {
        const int64_t o = quotient(s, inner), i = s - o * inner;
        Candidate<T> candidate;
        candidate.value = static_cast<T>(in[(o * length + j) * inner + i]);
        candidate.index = j;
        return candidate;
      },
      [=] HVD_KERNEL(const Candidate<T>& a, const Candidate<T>& b) { return better(op, a, b); },
      [=] HVD_KERNEL(int64_t s, const Candidate<T>& best) {
        if (values) values[s] = static_cast<S>(best.value);
        if (indices) indices[s] = best.index;
      });
}

template <class T>
double squares(const Backend& device, int64_t n, const T* x) {
  return reduce_to_host(
      device, "norm", n, 0.0, [=] HVD_KERNEL(int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); }, Sum());
}

/// The larger of two magnitudes; NaN stays.
struct LargerOrNan {
  HVD_HD double operator()(double a, double b) const { return a != a ? a : (a >= b ? a : b); }
};

template <class T>
double largest_magnitude(const Backend& device, int64_t n, const T* x) {
  return reduce_to_host(device, "norm", n, 0.0, [=] HVD_KERNEL(int64_t i) { return std::abs(static_cast<double>(x[i])); }, LargerOrNan());
}

}  // namespace

void Gpu::sum(Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* out) const {
  switch (dtype) {
    case Dtype::kInt64: return sum_middle<int64_t>(*this, outer, length, inner, static_cast<const int64_t*>(in), static_cast<int64_t*>(out));
    case Dtype::kBool: return sum_middle<int64_t>(*this, outer, length, inner, static_cast<const bool*>(in), static_cast<int64_t*>(out));
    default: break;
  }
  dispatch_floating("sum", dtype, [&](auto zero) {
    using T = decltype(zero);
    sum_middle<double>(*this, outer, length, inner, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

void Gpu::extremum(Extremum op, Dtype dtype, int64_t outer, int64_t length, int64_t inner, const void* in, void* values,
                   int64_t* indices) const {
  if (dtype == Dtype::kBool)
    return extremum_middle(*this, op, outer, length, inner, static_cast<const uint8_t*>(in), static_cast<uint8_t*>(values), indices);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    extremum_middle(*this, op, outer, length, inner, static_cast<const T*>(in), static_cast<T*>(values), indices);
  };
  is_low_precision(dtype) ? dispatch_floating("an extremum", dtype, run) : dispatch_number("an extremum", dtype, run);
}

double Gpu::sum_squares(Dtype dtype, int64_t n, const void* in) const {
  double result = 0;
  dispatch_floating("norm", dtype, [&](auto zero) { result = squares(*this, n, static_cast<const decltype(zero)*>(in)); });
  return result;
}

double Gpu::max_magnitude(Dtype dtype, int64_t n, const void* in) const {
  double result = 0;
  dispatch_floating("norm", dtype, [&](auto zero) { result = largest_magnitude(*this, n, static_cast<const decltype(zero)*>(in)); });
  return result;
}

}  // namespace hvd::backends::gpu
