// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace hvd {

/// How the loss is formed from per-sample terms, hence how the gradients of the ranks combine.
class LossKind {
 public:
  enum class Form { mean, sum, counted };
  static const LossKind mean;  ///< mean over the batch: weight rows / global rows
  static const LossKind sum;   ///< sum over the batch: weight 1
  /// Mean over `n` counted terms of this rank's slice (tokens, labels that are not ignored, sums of class weights): weight is n
  /// over the sum of the counts of all ranks.
  static LossKind counted(double n) { return LossKind(Form::counted, n); }
  template <class Tensor0d, std::enable_if_t<!std::is_arithmetic_v<Tensor0d>, int> = 0>
  static LossKind counted(const Tensor0d& n) {
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
