// SPDX-License-Identifier: Apache-2.0
// Which optimizers step along gradients of summed losses, where a program has losses of both kinds.
#pragma once

#include <optional>

#include "rewriters/program/model.h"

namespace hvdize {

/// The constructions of the optimizers that follow summed losses alone. Null where one may follow both kinds, or it is not seen which losses one follows:
/// those in the innermost loop around its steps, or in the function where there is none.
std::optional<llvm::DenseSet<const clang::Expr*>> optimizersOfSums(const Model& m);

/// Which losses the program has.
struct LossGrowth {
  bool sums = false, means = false;  ///< with gradients that grow with the batch, and others
  const clang::Expr* either = nullptr;  ///< where it is the one on some ways and the other elsewhere, or a sum of both
};
LossGrowth lossGrowth(const Model& m);

/// A backward pass, or an addition in its loss, which shows that no rule says how a rate is to follow the size of the batch. Null where each optimizer has one.
const clang::Expr* withoutRule(const Model& m);

}  // namespace hvdize
