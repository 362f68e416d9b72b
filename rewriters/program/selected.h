// SPDX-License-Identifier: Apache-2.0
// Samples that a mask selects: some of this rank's, and how many is another number on each rank.
#pragma once

#include "rewriters/program/author.h"
#include "rewriters/program/kinds.h"

namespace hvdize {

extern const char* const kSelectedRows;

/// Where the mask, of one truth value for each sample, holds among this rank's rows: `mask.nonzero()`, written at `where`.
Value positionsIn(const clang::Expr* mask, const clang::Expr* where);

/// Such positions in another shape; without the mask where that is not a list of them any more. Other values come back as they are.
Value reshapedPositions(const clang::Expr* e, const Value& v);

/// May the function select some of the samples that it gets, or give such that it does not get? isSelected: does the variable or member hold some?
bool selects(const AuthorCode& code, const clang::FunctionDecl* f, llvm::function_ref<bool(const clang::ValueDecl*)> isSelected, unsigned depth = 0);

}  // namespace hvdize
