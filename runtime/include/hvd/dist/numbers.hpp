// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers that speak of the whole batch, in tensors of the training core.

#include <type_traits>

#include <hvd/dist/scalars.hpp>
#include <hvd/tensor.hpp>

namespace hvd {

namespace detail {

Tensor combine_in_step(const Tensor& mine, Combine how, const char* name, CallSite site);
Tensor mean_in_step(const Tensor& mine, CallSite site);
Tensor count_mean_in_step(const Tensor& mine, double count, CallSite site);
void sum_tensor(Tensor& tensor);  // over all ranks, in place
Tensor gather_rows(const Tensor& rows, CallSite site);
Tensor with_grad_in_step(const Tensor& mine, bool sum, CallSite site);
Tensor counted_mean(const Tensor& mine, double count, CallSite site);

}  // namespace detail

/// Tensors of any shape, elementwise: as the functions for numbers in scalars.hpp. Gradients flow through means and sums, and through `gather`: a rank's part gets
/// those that the losses of all ranks have by the whole, d L / d x = scale * sum over ranks of d L_rank / d result, where the result is the sum of scale * x. The
/// backward pass is then collective, and one of `weighted(loss, kind)` by a mean or by counts. Errors on the way back: a loss that is a sum over samples, a gradient
/// of gradients, ranks that step on their own (HVD_SYNC), an extremum.
inline Tensor batch_mean(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::mean_in_step(x, site) : x;
}
inline Tensor batch_sum(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::sum, "batch_sum", site) : x;
}
inline Tensor batch_max(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::max, "batch_max", site) : x;
}
inline Tensor batch_min(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::combine_in_step(x, detail::Combine::min, "batch_min", site) : x;
}
template <class Count>
Tensor batch_count_mean(const Tensor& x, const Count& n, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  if constexpr (std::is_arithmetic_v<Count>) return detail::count_mean_in_step(x, static_cast<double>(n), site);
  else return detail::count_mean_in_step(x, n.template item<double>(), site);
}

/// `x` is a mean (a sum) over this rank's slice, of which the loss is a function that is not linear: the root of a mean, a quotient of sums. The mean (the
/// sum) over the global batch, elementwise, through which gradients flow: what every rank makes of it is the loss of the whole batch, and a mean for those who
/// weight it. d L / d x of this rank is d L / d result, for a sum divided by this rank's share of the rows, which the weighting of the loss multiplies.
inline Tensor batch_mean_with_grad(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::with_grad_in_step(x, false, site) : x;
}
inline Tensor batch_sum_with_grad(const Tensor& x, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::with_grad_in_step(x, true, site) : x;
}

/// `x` is a mean over `n` counted terms of the slice (number or 0-d tensor): made an ordinary mean over the slice's rows, so that the mean over the
/// global batch, by shares of rows, is that over all counted terms. Gradients flow through. A rank with n = 0 contributes nothing.
template <class Count>
Tensor counted_mean(const Tensor& x, const Count& n, CallSite site = CallSite::here()) {
  if (!detail::in_sharded_step()) return x;
  if constexpr (std::is_arithmetic_v<Count>) return detail::counted_mean(x, static_cast<double>(n), site);
  else return detail::counted_mean(x, n.template item<double>(), site);
}

/// Tensors, as numbers: a term free of samples inside a sum over samples. Local.
inline Tensor share_of(const Tensor& x) { return detail::in_sharded_step() ? x * detail::row_share() : x; }

/// The rows of all ranks in the order of the global batch (dimension 0); a filler's row is left out.
inline Tensor gather(const Tensor& rows, CallSite site = CallSite::here()) {
  return detail::in_sharded_step() ? detail::gather_rows(rows, site) : rows;
}

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
