// SPDX-License-Identifier: Apache-2.0
// A batch size that the program writes as a number, in more than one place.
#pragma once

#include "llvm/ADT/SetVector.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/quantities.h"

namespace hvdize {

struct SizesWrittenAgain {
  /// Where the number that is the size of a batch stands once more and means it: it is compared with the rows of a batch (`x.size(0) != 64`), it counts
  /// samples, batch by batch (`seen += 64`, `step * 64`), or batches (`set.size() / 64`).
  llvm::SetVector<const clang::Expr*> places;
  /// Where batches are counted with it in a way that cannot be multiplied: `(set.size() + 63) / 64`, `set.size() / 64.0`. Null for nothing like it.
  const clang::Expr* fixed = nullptr;
  /// Where it may mean it or something else: `loss.item() * 64`, `50000 / 64`, `if (step == next) next += 64`.
  llvm::SetVector<const clang::Expr*> unclear;
};

/// Empty where the size is no literal, or where there are several sizes.
SizesWrittenAgain sizesWrittenAgain(const AuthorCode& code, const Dialect& dialect, const Batches& batches, const Definitions& definitions,
                                                      const Quantity& batchSize);

}  // namespace hvdize
