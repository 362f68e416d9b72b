// SPDX-License-Identifier: Apache-2.0
// What is changed where it lies: tensors in place, containers, fields, between two places of a function.
#pragma once

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

class Changes {
 public:
  Changes(const Definitions& definitions, const Dialect& dialect) : definitions_(definitions), code_(definitions.code()), dialect_(dialect) {}

  /// Does `e` still give what it gave at `from`, when it is computed once more at `at`, further down in the same function? New values of the
  /// variables that it names are not looked at (see Definitions).
  bool changedBetween(const clang::Expr* e, const clang::Stmt* from, const clang::Stmt* at) const;

  /// May running `within` change what `e` gives, by a function or under another name as well? New values of local variables that it names
  /// are not looked at.
  bool changedIn(const clang::Expr* e, const clang::Stmt* within) const;

 private:
  using Names = llvm::DenseSet<const clang::ValueDecl*>;
  void namesIn(const clang::Expr* e, Names& names) const;
  void addAliases(const clang::FunctionDecl* function, Names& names) const;
  const clang::Expr* changedBy(const clang::Expr* e) const;
  const clang::ValueDecl* givenAnother(const clang::Expr* e) const;
  bool changes(const clang::Expr* e, const Names& names, unsigned depth) const;

  const Definitions& definitions_;
  const AuthorCode& code_;
  const Dialect& dialect_;
};

}  // namespace hvdize
