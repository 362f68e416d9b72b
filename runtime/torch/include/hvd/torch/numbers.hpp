// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers that speak of the whole batch, in LibTorch's tensors.

#include <cstdint>
#include <ostream>
#include <type_traits>
#include <vector>

#include <hvd/dist/scalars.hpp>
#include <torch/types.h>

namespace hvd {

namespace detail {

at::Tensor combine_in_step(const at::Tensor& mine, Combine how, const char* name, CallSite site);
at::Tensor mean_in_step(const at::Tensor& mine, CallSite site);
at::Tensor count_mean_in_step(const at::Tensor& mine, double count, CallSite site);
void sum_tensor(at::Tensor& tensor);  // over all ranks, in place
at::Tensor gather_rows(const at::Tensor& rows, CallSite site);
at::Tensor with_grad_in_step(const at::Tensor& mine, bool sum, CallSite site);
at::Tensor counted_mean(const at::Tensor& mine, double count, CallSite site);
/// The same, where the count itself depends on parameters: as a number it is right, and a backward pass through it is an error.
at::Tensor counted_number(const at::Tensor& mine, double count, CallSite site);

}  // namespace detail

/// Tensors of any shape, elementwise: as the functions for numbers in scalars.hpp. Gradients flow through means and sums, and through `gather`: a rank's part gets
/// those that the losses of all ranks have by the whole, d L / d x = scale * sum over ranks of d L_rank / d result, where the result is the sum of scale * x. The
/// backward pass is then collective, and one of `weighted(loss, kind)` by a mean or by counts. Errors on the way back: a loss that is a sum over samples, a gradient
/// of gradients, ranks that step on their own (HVD_SYNC), an extremum.
inline at::Tensor batch_mean(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::mean_in_step(x, site) : x;
}
inline at::Tensor batch_sum(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::sum, "batch_sum", site) : x;
}
inline at::Tensor batch_max(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::max, "batch_max", site) : x;
}
inline at::Tensor batch_min(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::min, "batch_min", site) : x;
}
template <class Count>
at::Tensor batch_count_mean(const at::Tensor& x, const Count& n, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  if constexpr (std::is_arithmetic_v<Count>) return detail::count_mean_in_step(x, static_cast<double>(n), site);
  else return detail::count_mean_in_step(x, n.template item<double>(), site);
}

/// `x` is a mean (a sum) over this rank's slice, of which the loss is a function that is not linear: the root of a mean, a quotient of sums. The mean (the
/// sum) over the global batch, elementwise, through which gradients flow: what every rank makes of it is the loss of the whole batch, and a mean for those who
/// weight it. d L / d x of this rank is d L / d result, for a sum divided by this rank's share of the rows, which the weighting of the loss multiplies.
inline at::Tensor batch_mean_with_grad(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::with_grad_in_step(x, false, site) : x;
}
inline at::Tensor batch_sum_with_grad(const at::Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::with_grad_in_step(x, true, site) : x;
}

/// What `item()` without a type returns, with its own type.
inline at::Scalar batch_mean(const at::Scalar& x, CallSite site = CallSite::here()) { return batch_mean(x.toDouble(), site); }
inline at::Scalar batch_sum(const at::Scalar& x, CallSite site = CallSite::here()) {
  if (x.isIntegral(false)) return batch_sum(x.toLong(), site);
  return batch_sum(x.toDouble(), site);
}
inline at::Scalar batch_max(const at::Scalar& x, CallSite site = CallSite::here()) {
  if (x.isIntegral(false)) return batch_max(x.toLong(), site);
  return batch_max(x.toDouble(), site);
}
inline at::Scalar batch_min(const at::Scalar& x, CallSite site = CallSite::here()) {
  if (x.isIntegral(false)) return batch_min(x.toLong(), site);
  return batch_min(x.toDouble(), site);
}
template <class Count>
at::Scalar batch_count_mean(const at::Scalar& x, const Count& n, CallSite site = CallSite::here()) {
  return batch_count_mean(x.toDouble(), n, site);
}

/// `x` is a mean over `n` counted terms of the slice (number or 0-d tensor): made an ordinary mean over the slice's rows, so that the mean over the
/// global batch, by shares of rows, is that over all counted terms. Gradients flow through, unless `n` depends on parameters too: a backward pass then throws std::invalid_argument.
/// A rank with n = 0 contributes nothing.
template <class Count>
at::Tensor counted_mean(const at::Tensor& x, const Count& n, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  if constexpr (std::is_arithmetic_v<Count>) return detail::counted_mean(x, static_cast<double>(n), site);
  else if (n.requires_grad()) return detail::counted_number(x, n.template item<double>(), site);
  else return detail::counted_mean(x, n.template item<double>(), site);
}

/// Tensors, as numbers: a term free of samples inside a sum over samples. Local.
inline at::Tensor share_of(const at::Tensor& x) { return detail::in_sharded_step() ? x * detail::row_share() : x; }

/// The rows of all ranks in the order of the global batch (dimension 0); a filler's row is left out.
inline at::Tensor gather(const at::Tensor& rows, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::gather_rows(rows, site) : rows;
}

/// The extents of a tensor with rows of this rank, as they are for the global batch.
class GlobalShape {
 public:
  explicit GlobalShape(at::IntArrayRef local) : extents_(global(local.vec())) {}
  operator at::IntArrayRef() const { return extents_; }  // NOLINT(google-explicit-constructor): it stands for one
  std::int64_t operator[](std::size_t i) const { return extents_.at(i); }
  std::size_t size() const { return extents_.size(); }
  auto begin() const { return extents_.begin(); }
  auto end() const { return extents_.end(); }
  bool equals(at::IntArrayRef other) const { return other.equals(extents_); }
  friend bool operator==(const GlobalShape& a, at::IntArrayRef b) { return a.equals(b); }
  friend bool operator==(at::IntArrayRef a, const GlobalShape& b) { return b.equals(a); }
  friend bool operator!=(const GlobalShape& a, at::IntArrayRef b) { return !a.equals(b); }
  friend bool operator!=(at::IntArrayRef a, const GlobalShape& b) { return !b.equals(a); }
  friend std::ostream& operator<<(std::ostream& out, const GlobalShape& shape) { return out << at::IntArrayRef(shape.extents_); }

 private:
  std::vector<std::int64_t> extents_;
};

inline GlobalShape global(at::IntArrayRef shape) { return GlobalShape(shape); }

namespace detail {

template <class T>
void put_sum(const Number*& next, T& x) {
  if constexpr (std::is_arithmetic_v<T>) x = from_number<T>(*next++);
  else sum_tensor(x);
}

}  // namespace detail

/// In place: numbers (one message for all of them) and tensors become their sums over ranks. Returns the first.
template <class First, class... Rest>
First& all_reduce_sum(First& first, Rest&... rest) {
  detail::Number numbers[1 + sizeof...(rest)];
  detail::Number* fill = numbers;
  detail::take_number(fill, first);
  (detail::take_number(fill, rest), ...);
  if (fill != numbers) detail::sum_numbers(numbers, static_cast<std::size_t>(fill - numbers));
  const detail::Number* drain = numbers;
  detail::put_sum(drain, first);
  (detail::put_sum(drain, rest), ...);
  return first;
}

}  // namespace hvd
