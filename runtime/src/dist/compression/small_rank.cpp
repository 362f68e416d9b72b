// SPDX-License-Identifier: Apache-2.0
#include "small_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hvd::dist {

namespace {

constexpr std::size_t kLanes = 8;  // partial sums that a processor adds up at once; a fixed number, so that the order of sums is fixed

template <class T>
T dot(const T* a, const T* b, std::size_t n) {
  T lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  for (std::size_t l = 0; i < n; ++i, ++l) lanes[l] += a[i] * b[i];
  double sum = 0;
  for (const T lane : lanes) sum += static_cast<double>(lane);
  return static_cast<T>(sum);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// A number between -1 and 1 (splitmix64; Steele, Lea and Flood 2014).
double draw(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

}  // namespace

template <class T>
void multiply(const T* matrix, std::size_t rows, const Vectors<T>& from, Vectors<T>& to) {
  const std::size_t columns = from.length;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < from.rank; ++k) to[k][i] = dot(matrix + i * columns, from[k], columns);
}

template <class T>
void multiply_transposed(const T* matrix, std::size_t rows, const Vectors<T>& from, Vectors<T>& to) {
  const std::size_t columns = to.length;
  std::fill(to.values.begin(), to.values.end(), T(0));
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < from.rank; ++k) {
      const T by = from[k][i];
      const T* const row = matrix + i * columns;
      T* const sum = to[k];
      for (std::size_t j = 0; j < columns; ++j) sum[j] += by * row[j];
    }
}

template <class T>
void outer_sum(const Vectors<T>& left, const Vectors<T>& right, T* matrix) {
  const std::size_t columns = right.length;
  for (std::size_t i = 0; i < left.length; ++i) {
    T* const row = matrix + i * columns;
    std::fill(row, row + columns, T(0));
    for (std::size_t k = 0; k < left.rank; ++k) {
      const T by = left[k][i];
      const T* const from = right[k];
      for (std::size_t j = 0; j < columns; ++j) row[j] += by * from[j];
    }
  }
}

// Gram-Schmidt, twice over ("twice is enough"; Giraud, Langou and Rozloznik 2005), in double precision.
template <class T>
void orthonormalise(Vectors<T>& vectors) {
  constexpr double kRounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  std::vector<std::vector<double>> done;
  for (std::size_t k = 0; k < vectors.rank; ++k) {
    std::vector<double> v(vectors[k], vectors[k] + vectors.length);
    const double before = std::sqrt(dot(v, v));
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double>& other : done) {
        const double along = dot(v, other);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * other[i];
      }
    const double length = std::sqrt(dot(v, v));
    const bool dependent = !(length > kRounding * before);
    for (double& x : v) x = dependent ? 0 : x / length;
    for (std::size_t i = 0; i < v.size(); ++i) vectors[k][i] = static_cast<T>(v[i]);
    if (!dependent) done.push_back(std::move(v));
  }
}

template <class T>
void orthonormalise_or_draw(Vectors<T>& vectors, std::uint64_t seed) {
  orthonormalise(vectors);
  for (std::size_t k = 0; k < vectors.rank; ++k) {
    T* const v = vectors[k];
    if (std::any_of(v, v + vectors.length, [](T x) { return x != 0; })) continue;
    std::uint64_t state = seed * 0x100000001b3ull + k;
    std::vector<double> drawn(vectors.length);
    for (double& x : drawn) x = draw(state);
    const double length = std::sqrt(dot(drawn, drawn));
    for (std::size_t i = 0; i < drawn.size(); ++i) v[i] = static_cast<T>(drawn[i] / length);
  }
}

template <class T>
bool all_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); });
}

template void multiply(const float*, std::size_t, const Vectors<float>&, Vectors<float>&);
template void multiply(const double*, std::size_t, const Vectors<double>&, Vectors<double>&);
template void multiply_transposed(const float*, std::size_t, const Vectors<float>&, Vectors<float>&);
template void multiply_transposed(const double*, std::size_t, const Vectors<double>&, Vectors<double>&);
template void outer_sum(const Vectors<float>&, const Vectors<float>&, float*);
template void outer_sum(const Vectors<double>&, const Vectors<double>&, double*);
template void orthonormalise(Vectors<float>&);
template void orthonormalise(Vectors<double>&);
template void orthonormalise_or_draw(Vectors<float>&, std::uint64_t);
template void orthonormalise_or_draw(Vectors<double>&, std::uint64_t);
template bool all_finite(const std::vector<float>&);
template bool all_finite(const std::vector<double>&);

}  // namespace hvd::dist
