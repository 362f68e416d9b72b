// SPDX-License-Identifier: Apache-2.0
// Output that a macro of the author's writes: LOG("loss %f", x), with the call of printf in the macro's body.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

/// A use of a macro that is a whole statement and writes to the console in its body, where nothing can be edited.
struct MacroOutput {
  const clang::Stmt* statement = nullptr;  ///< all the macro expands to; null: not such a use
  bool leaves = false;                     ///< it may return, break, continue, throw: it cannot be made conditional
};

/// The macro use that `e`, anything in the body or the arguments of one, belongs to.
MacroOutput macroOutput(const Model& model, const clang::Expr* e);

}  // namespace hvdize
