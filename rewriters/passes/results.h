// SPDX-License-Identifier: Apache-2.0
// Whether what a call returns is needed.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

/// Does anything in the program hang on what `call` returns? Not where it is thrown away, kept in a variable that nobody asks, or returned by functions whose callers do
/// so: `return vprintf(format, arguments);`.
bool isResultNeeded(const Model& model, const clang::Expr* call);

}  // namespace hvdize
