// SPDX-License-Identifier: Apache-2.0
// Steps that call back for loss and gradients, once, or until the loss is low enough along a line.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// The lambda that `optimizer.step(closure)` calls back; null where it is none, or is not seen.
const clang::LambdaExpr* closureOf(const Site& step, const Definitions& definitions);

/// The steps that call each such lambda.
llvm::DenseMap<const clang::FunctionDecl*, llvm::SmallVector<const clang::Expr*, 2>> stepsWithClosures(const Sites& sites, const Definitions& definitions);

/// The lambdas that steps call back, where an optimizer of the program searches by what they return. All ranks must be given the same loss: that of the whole batch.
/// Which steps are such an optimizer's is not asked: the loss of the whole batch is right for those of others, too.
llvm::DenseSet<const clang::FunctionDecl*> searchedClosures(const Sites& sites, const Definitions& definitions);

}  // namespace hvdize
