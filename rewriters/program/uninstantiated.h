// SPDX-License-Identifier: Apache-2.0
// Templates of the author's that nothing instantiates: their bodies hold no facts.
#pragma once

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

/// Could the body, once instantiated, hold facts? It calls something.
bool mayHoldFacts(const clang::FunctionDecl* pattern);

/// Could the body hold a training step? It calls what is named like a step or a backward pass of the dialect.
bool mayTrain(const Dialect& dialect, const clang::FunctionDecl* pattern);

}  // namespace hvdize
