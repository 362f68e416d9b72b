// SPDX-License-Identifier: Apache-2.0
// The types of loaders that the author wrote out: members and parameters cannot be `auto`.
#pragma once

#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "rewriters/program/model.h"

namespace hvdize {

/// Where the author spells the sampler among the template arguments of the type of one of these loaders (constructions whose sampler
/// becomes another type). Types that depend on template parameters count when no other loader may be meant.
llvm::SmallVector<clang::SourceRange, 4> spelledSamplers(const Model& m, llvm::ArrayRef<const clang::Expr*> loaders);

}  // namespace hvdize
