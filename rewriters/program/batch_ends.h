// SPDX-License-Identifier: Apache-2.0
// Where the last batch ends: in a program whose rows make up a whole number of its batches, nothing need keep one within the data.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

/// `xs[at + k]`, `xs.begin() + at + batch`, in a loop `for (at = 0; at < n; at += batch)` in which nothing else asks where the data end: with a larger batch
/// that does not go into `n` this would be read behind them. Null where there is nothing like it; of a loop whose size of batches is found.
const clang::Expr* readBehindData(const Model& m);

}  // namespace hvdize
