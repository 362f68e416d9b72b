// SPDX-License-Identifier: Apache-2.0
// Which statements a condition decides over: branches, loop bodies, and what an exit inside them leaves out.
#pragma once

#include <vector>

#include "rewriters/program/author.h"

namespace hvdize {

struct Control {
  enum class Kind {
    Condition,   ///< if, loops, switch, ?:, && and ||
    Handler,     ///< a catch block: perhaps one rank only
    RootOnly     ///< functions handed to from_root and root_only
  } kind = Kind::Condition;
  const clang::Stmt* stmt = nullptr;
  /// Null for handlers and root-only calls: those are rank-local always.
  const clang::Expr* condition = nullptr;
  /// What may run on some ranks only, or another number of times, when the condition differs between ranks.
  std::vector<const clang::Stmt*> regions;
  /// The goto that makes the extent of the control unknown.
  const clang::Stmt* jump = nullptr;
};

std::vector<Control> findControls(const AuthorCode& code);

}  // namespace hvdize
