// SPDX-License-Identifier: Apache-2.0
#pragma once

// The linear algebra of PowerSGD on small ranks: plain loops in a fixed order, so that all ranks come to the same bits.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hvd::dist {

/// `rank` vectors of `length` elements, one after the other.
template <class T>
struct Vectors {
  std::size_t rank = 0, length = 0;
  std::vector<T> values;

  Vectors() = default;
  Vectors(std::size_t r, std::size_t n) : rank(r), length(n), values(r * n) {}
  T* operator[](std::size_t k) { return values.data() + k * length; }
  const T* operator[](std::size_t k) const { return values.data() + k * length; }
};

/// to[k] = M from[k], with M of `rows` rows.
template <class T>
void multiply(const T* matrix, std::size_t rows, const Vectors<T>& from, Vectors<T>& to);
/// to[k] = transposed M from[k].
template <class T>
void multiply_transposed(const T* matrix, std::size_t rows, const Vectors<T>& from, Vectors<T>& to);
/// M = sum over k of left[k] right[k]^T.
template <class T>
void outer_sum(const Vectors<T>& left, const Vectors<T>& right, T* matrix);
/// Makes the vectors orthonormal, in their order; one that depends on those before it, up to rounding, becomes zero.
template <class T>
void orthonormalise(Vectors<T>& vectors);
/// The same; then drawn vectors of length 1, which depend on the numbers given only, in place of those that are zero.
template <class T>
void orthonormalise_or_draw(Vectors<T>& vectors, std::uint64_t seed);
template <class T>
bool all_finite(const std::vector<T>& values);

}  // namespace hvd::dist
