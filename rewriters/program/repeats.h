// SPDX-License-Identifier: Apache-2.0
// Numbers that a program computes at several places in the same way.
#pragma once

#include <string>

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// What an expression names, calls and writes out, conversions and template arguments left out: two expressions with the same print compute
/// the same number. Empty where nothing is named (a number that stands there by itself); a number from a macro has the macro's place.
std::string fingerprint(const clang::Expr* e, const clang::ASTContext& context);

/// Every other expression of the author's with the fingerprint of `e`; none inside `e`.
llvm::SmallVector<const clang::Expr*, 4> repeatsOf(const clang::Expr* e, const AuthorCode& code);

/// Does the expression yield the same number whenever it is evaluated? Not where it reads a stream, or names what changes.
bool isSteady(const clang::Expr* e, const AuthorCode& code, const Definitions& definitions);

/// Does the same expression stand in the tree?
bool repeatsIn(const clang::Expr* tree, const clang::Expr* e, const clang::ASTContext& context);

}  // namespace hvdize
