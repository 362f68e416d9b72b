// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a mean over counted terms divides by (torch.nn.CrossEntropyLoss, torch.nn.NLLLoss: `weight`, `ignore_index`).

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <torch/types.h>

namespace hvd {

namespace detail {

template <class T, class = void>
inline constexpr bool has_loss_options = false;
template <class T>
inline constexpr bool has_loss_options<T, std::void_t<decltype(std::declval<const T&>().ignore_index())>> = true;
template <class T, class = void>
inline constexpr bool is_loss_module = false;
template <class T>
inline constexpr bool is_loss_module<T, std::void_t<decltype(std::declval<const T&>().options.ignore_index())>> = true;

double count_terms(const at::Tensor& target, const at::Tensor& weight, std::int64_t ignore_index);

}  // namespace detail

/// The number of targets (class indices, any shape) that are not `ignore_index`; with class weights, the sum of theirs. `options` are
/// those of the loss function, or the loss module or its holder. Error: targets that are class probabilities. Local.
template <class Options>
double counted_terms(const at::Tensor& target, const Options& options) {
  if constexpr (detail::has_loss_options<Options>) return detail::count_terms(target, options.weight(), options.ignore_index());
  else if constexpr (detail::is_loss_module<Options>) return counted_terms(target, options.options);
  else return counted_terms(target, options->options);
}

}  // namespace hvd
