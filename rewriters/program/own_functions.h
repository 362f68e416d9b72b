// SPDX-License-Identifier: Apache-2.0
// Functions of the author's with a backward pass of their own: a class with a static `forward` and a static `backward`, called through the
// framework (`Clipped::apply(x, 2.0)`).
#pragma once

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

/// What such a function makes on one rank.
struct OwnFunctionResult {
  bool rows = false;     ///< a row for each sample; else the same on all ranks
  bool fewer = false;    ///< with fewer dimensions than its arguments, perhaps
  const clang::Expr* where = nullptr;  ///< what is not seen to keep the samples apart
  const char* why = nullptr;           ///< null: both passes keep them apart
};

/// Both passes are gone through, operation by operation. The result of a sample must come from that sample alone. The gradients must be linear in
/// those that come in (on a rank these are weighted): those of samples row by row, those of what all ranks have alike as sums over samples, which then
/// add up over ranks. Whatever is not seen to be so is a reason not to take it.
/// `rows`: for each argument of the call, whether it has a row for each sample; `flat`: one of them may have one number for each.
OwnFunctionResult applyOwnFunction(const AuthorCode& code, const Dialect& dialect, const clang::Expr* apply, llvm::ArrayRef<bool> rows, bool flat);

}  // namespace hvdize
