// SPDX-License-Identifier: Apache-2.0
// A batch size that the program writes as a number, in more than one place.
#pragma once

#include "llvm/ADT/SetVector.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/quantities.h"

namespace hvdize {

/// Where the number that is the size of a batch stands once more and means it: it is compared with the rows of a batch (`x.size(0) != 64`), or it
/// counts samples, batch by batch (`seen += 64`, `step * 64`). Empty where the size is no literal, or where there are several sizes.
llvm::SetVector<const clang::Expr*> sizesWrittenAgain(const AuthorCode& code, const Dialect& dialect, const Batches& batches, const Definitions& definitions,
                                                      const Quantity& batchSize);

}  // namespace hvdize
