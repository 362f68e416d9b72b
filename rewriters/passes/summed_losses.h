// SPDX-License-Identifier: Apache-2.0
// Which optimizers step along gradients of summed losses, where a program has losses of both kinds.
#pragma once

#include <optional>

#include "rewriters/program/model.h"

namespace hvdize {

/// The constructions of the optimizers that follow summed losses alone. Null where one may follow both kinds, or it is not seen which losses one follows:
/// those in the innermost loop around its steps, or in the function where there is none.
std::optional<llvm::DenseSet<const clang::Expr*>> optimizersOfSums(const Model& m);

}  // namespace hvdize
