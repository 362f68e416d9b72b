// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of any program that speak of the whole batch. The batch_... functions, global and gather are the identity outside a step.

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <hvd/dist/call_site.hpp>

namespace hvd {

namespace detail {

enum class Combine { sum, max, min };

// One number of this rank, to be combined with the others' in the order of ranks. Integers stay integers.
struct Number {
  enum class Form : std::uint8_t { real, integer, natural } form = Form::real;
  double real = 0;
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
};

template <class T>
Number to_number(T x) {
  Number n;
  if constexpr (std::is_floating_point_v<T>) {
    n.real = static_cast<double>(x);
  } else if constexpr (std::is_signed_v<T> || std::is_same_v<T, bool>) {
    n.form = Number::Form::integer;
    n.integer = static_cast<std::int64_t>(x);
  } else {
    n.form = Number::Form::natural;
    n.natural = static_cast<std::uint64_t>(x);
  }
  return n;
}
template <class T>
T from_number(const Number& n) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(n.real);
  } else if constexpr (std::is_signed_v<T> || std::is_same_v<T, bool>) {
    return static_cast<T>(n.integer);
  } else {
    return static_cast<T>(n.natural);
  }
}

bool in_sharded_step() noexcept;  // more than one rank, and a slice is active
// Over the ranks whose slice is no filler; every rank gets the result.
Number combine_in_step(Number mine, Combine how, const char* name, CallSite site);
std::int64_t common_in_step(std::int64_t mine, CallSite site);
double mean_in_step(double mine, CallSite site);
double count_mean_in_step(double mine, double count, CallSite site);
std::int64_t global_multiple(std::int64_t n);
double global_multiple(double n);
void sum_numbers(Number* numbers, std::size_t count);  // over all ranks, in place
std::int64_t root_choice(std::int64_t mine, CallSite site);
bool root_decision(bool mine, CallSite site);
void root_bytes(std::string& bytes, const char* name, CallSite site);
// Raw rows of `row_bytes` bytes each, this rank's in, all ranks' out.
std::string gather_raw(const void* rows, std::size_t count, std::size_t row_bytes, CallSite site);
double row_share();  // rows of this rank's slice / rows of the global batch; 0 with a filler
// What makes a mean over `count` terms of this rank's slice one over rows: n_r / sum n, divided by row_share(). 0 where nothing is counted.
double counted_factor(double count, CallSite site);

}  // namespace detail

// Programs of other frameworks are often compiled as C++17: no concepts here.
template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<T>, int>;

/// `x` is a mean over this rank's slice: the mean over the global batch, by shares of rows (formed in double).
template <class T, IfNumber<T> = 0>
T batch_mean(T x, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  const double mean = detail::mean_in_step(static_cast<double>(x), site);
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::llround(mean));
  else return static_cast<T>(mean);
}

/// `x` is a sum over this rank's slice: the sum over the global batch. Integers stay exact.
template <class T, IfNumber<T> = 0>
T batch_sum(T x, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  return detail::from_number<T>(detail::combine_in_step(detail::to_number(x), detail::Combine::sum, "batch_sum", site));
}

/// The largest and the smallest over the global batch; NaN if any is NaN.
template <class T, IfNumber<T> = 0>
T batch_max(T x, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  return detail::from_number<T>(detail::combine_in_step(detail::to_number(x), detail::Combine::max, "batch_max", site));
}
template <class T, IfNumber<T> = 0>
T batch_min(T x, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  return detail::from_number<T>(detail::combine_in_step(detail::to_number(x), detail::Combine::min, "batch_min", site));
}

/// An extent of the batch other than its samples (a length in time): the number that all ranks with rows have. Errors: they differ; all ranks throw.
template <class T, IfNumber<T> = 0>
T batch_common(T x, CallSite site = CallSite::here()) {
  static_assert(std::is_integral_v<T>, "batch_common compares extents, which are integers");
  if (!detail::in_sharded_step()) return x;
  return static_cast<T>(detail::common_in_step(static_cast<std::int64_t>(x), site));
}

/// `x` is a mean over `n` counted terms of the slice (number or 0-d tensor): the mean over all counted terms.
template <class T, class Count, IfNumber<T> = 0>
T batch_count_mean(T x, const Count& n, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  if constexpr (std::is_arithmetic_v<Count>) {
    return static_cast<T>(detail::count_mean_in_step(static_cast<double>(x), static_cast<double>(n), site));
  } else {
    return static_cast<T>(detail::count_mean_in_step(static_cast<double>(x), n.template item<double>(), site));
  }
}

/// `x` is free of samples and added to a sum over this rank's slice: this rank's share of it, so that over all ranks it counts once.
/// Local.
template <class T, IfNumber<T> = 0>
auto share_of(T x) {
  using Real = std::conditional_t<std::is_floating_point_v<T>, T, double>;
  const auto real = static_cast<Real>(x);
  return detail::in_sharded_step() ? static_cast<Real>(static_cast<double>(real) * detail::row_share()) : real;
}

/// `n`, a multiple of the number of rows at hand (the filler row included), for the global batch. Local.
template <class T, IfNumber<T> = 0>
T global(T n) {
  if (!detail::in_sharded_step()) return n;
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(detail::global_multiple(static_cast<double>(n)));
  else return static_cast<T>(detail::global_multiple(static_cast<std::int64_t>(n)));
}

/// The shape of a tensor with rows of this rank: as it is for the global batch. Local.
inline std::vector<std::int64_t> global(std::vector<std::int64_t> shape) {
  if (!shape.empty()) shape[0] = global(shape[0]);
  return shape;
}

/// The entries of all ranks in the order of the global batch: the vector holds one per row at hand; a filler's is left out.
template <class T, std::enable_if_t<std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, int> = 0>
std::vector<T> gather(const std::vector<T>& rows, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return rows;
  const std::string all = detail::gather_raw(rows.data(), rows.size(), sizeof(T), site);
  std::vector<T> result(all.size() / sizeof(T));
  for (std::size_t i = 0; i < all.size(); ++i) reinterpret_cast<char*>(result.data())[i] = all[i];
  return result;
}

/// The root's decision, on all ranks.
inline bool agree(bool condition, CallSite site = CallSite::here()) { return detail::root_decision(condition, site); }
/// The same for what a `switch` chooses by: a number, an enumerator.
template <class T, std::enable_if_t<(std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T>, int> = 0>
T agree(T choice, CallSite site = CallSite::here()) {
  return static_cast<T>(detail::root_choice(static_cast<std::int64_t>(choice), site));
}

/// The root's value (a seed drawn from a clock or a device), on all ranks.
template <class T, IfNumber<T> = 0>
T shared_seed(T x, CallSite site = CallSite::here()) {
  std::string bytes(reinterpret_cast<const char*>(&x), sizeof x);
  detail::root_bytes(bytes, "shared_seed", site);
  T result;
  for (std::size_t i = 0; i < sizeof x; ++i) reinterpret_cast<char*>(&result)[i] = bytes[i];
  return result;
}

namespace detail {

template <class T>
void take_number(Number*& next, const T& x) {
  if constexpr (std::is_arithmetic_v<T>) *next++ = to_number(x);
}

}  // namespace detail
}  // namespace hvd
