// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include <hvd/dist/failure.hpp>

namespace hvd {

namespace detail {
template <class T, class = void>
struct has_requires_grad : std::false_type {};
template <class T>
struct has_requires_grad<T, std::void_t<decltype(std::declval<const T&>().requires_grad())>> : std::true_type {};

inline constexpr const char* kGradedDivisor =
    "the loss is divided by a sum that depends on parameters: the gradients of such quotients do not add up over ranks (divide for each sample, and "
    "take the mean)";
}  // namespace detail

/// How the loss is formed from per-sample terms, hence how the gradients of the ranks combine.
class LossKind {
 public:
  enum class Form { mean, sum, counted };
  static const LossKind mean;  ///< mean over the batch: weight rows / global rows
  static const LossKind sum;   ///< sum over the batch: weight 1
  /// Mean over `n` counted terms of this rank's slice (tokens, labels that are not ignored, sums of class weights): weight is n
  /// over the sum of the counts of all ranks. A count is a number: one that depends on parameters would have a gradient of its own, which
  /// weights cannot carry (std::invalid_argument).
  static LossKind counted(double n) { return LossKind(Form::counted, n); }
  template <class Tensor0d, std::enable_if_t<!std::is_arithmetic_v<Tensor0d>, int> = 0>
  static LossKind counted(const Tensor0d& n) {
    if constexpr (detail::has_requires_grad<Tensor0d>::value)
      if (n.requires_grad())
        throw dist::Failure<std::invalid_argument>(detail::kGradedDivisor);
    return counted(n.template item<double>());
  }

  Form form() const { return form_; }
  double count() const { return count_; }

 private:
  constexpr LossKind(Form form, double count) : form_(form), count_(count) {}
  Form form_;
  double count_;
};

inline constexpr LossKind LossKind::mean{Form::mean, 0};
inline constexpr LossKind LossKind::sum{Form::sum, 0};

}  // namespace hvd
