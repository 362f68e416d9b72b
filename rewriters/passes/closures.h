// SPDX-License-Identifier: Apache-2.0
// Steps that call back for the loss: `optimizer.step(closure)`.
#pragma once

#include "rewriters/passes/passes.h"
#include "rewriters/program/model.h"

namespace hvdize {

/// The end of the closure that a step calls, `return loss;`, where the gradients of a call are complete: an optimizer that has no line search calls it
/// once and then moves on. Null where the closure is not written out as a lambda that ends so, or where the optimizer has no name in it.
const clang::ReturnStmt* closureEnd(const Model& m, const Site& step);

/// Is it in the closure of this step, as far as closureEnd knows closures?
bool isInClosure(const Model& m, const clang::Stmt* s, const Site& step);

}  // namespace hvdize
