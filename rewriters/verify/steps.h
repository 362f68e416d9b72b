// SPDX-License-Identifier: Apache-2.0
// Does every optimizer step use gradients of the whole batch?
#pragma once

#include <vector>

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// Steps of the rewritten program that a reduction of gradients does not precede on every way, in functions that reduce some: in the statements in front of the step and of
/// those that it stands in, each of them run whenever the step is, and with no backward pass between. A function that reduces none leaves it to its callers.
std::vector<const clang::Expr*> stepsWithoutReduction(const AuthorCode& code, const Definitions& definitions, const Sites& sites);

}  // namespace hvdize
