// SPDX-License-Identifier: Apache-2.0
// Batches that are worked off in parts: an inner loop with the backward passes, and the optimizer's step behind it.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

struct WholeOfParts {
  bool seen = true;                                      ///< false: the parts alone must not grow
  llvm::SmallVector<const clang::Expr*, 2> sizes;        ///< that of the batch: the stride of the loop around, the end of the parts
  const clang::ForStmt* around = nullptr;                ///< the loop around, where its head holds the stride
  const clang::BinaryOperator* stride = nullptr;
  bool ofLoader = false;            ///< the batch is one of a loader's
  const clang::Expr* end = nullptr;  ///< its size, as a number in the head of the loop over its parts
};

/// Of a loop that takes parts of a batch, `for (at = begin; at < end; at += part)`, what says how large that batch is.
WholeOfParts wholeOfParts(const Model& model, const HandLoop& loop);

}  // namespace hvdize
