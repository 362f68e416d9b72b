// SPDX-License-Identifier: Apache-2.0
// What the program stores where: one list that the taint analysis runs over until nothing changes.
#pragma once

#include <vector>

#include "rewriters/verify/calls.h"

namespace hvdize {

/// `target` (a variable, field, parameter, or a function for its result) may take a value made of `sources`.
struct Effect {
  const clang::Decl* target = nullptr;
  llvm::SmallVector<const clang::Expr*, 2> sources;
  /// A parameter or reference whose changes reach `target`.
  const clang::ValueDecl* through = nullptr;
  const clang::Stmt* site = nullptr;
  enum class Kind {
    Init,    ///< gives a new variable or parameter its value: the way to the place does not matter
    Change,  ///< changes what was there before: taints on some ranks only taint too
    Insert,  ///< adds an item to a container
    Local    ///< gives something that only this rank knows
  } kind = Kind::Init;
  bool items = false;  ///< sources are items of a container: how many there are does not depend on them
};

std::vector<Effect> findEffects(const Calls& calls);

/// A variable behind structured bindings, for which the whole stands.
const clang::ValueDecl* wholeOf(const clang::ValueDecl* d);
/// A function of the system whose result differs between machines or moments: clocks, file tests, entropy, identity, input.
bool isRankLocalHost(const clang::FunctionDecl* f);

}  // namespace hvdize
