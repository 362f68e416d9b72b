// SPDX-License-Identifier: Apache-2.0
// How many dimensions a tensor has at least, as far as the operations that made it tell.
#pragma once

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/origins.h"

namespace hvdize {

class TensorRanks {
 public:
  TensorRanks(const Definitions& definitions, const Dialect& dialect) : definitions_(definitions), code_(definitions.code()), dialect_(dialect) {}

  /// A lower bound of the number of dimensions of the tensor `e`; 0 when nothing is known.
  int atLeast(const clang::Expr* e) const;

 private:
  int ofCall(const clang::Expr* e, const Entry& entry, unsigned depth) const;
  int of(const clang::Expr* e, unsigned depth) const;
  int ofVariable(const clang::VarDecl* d, const clang::Expr* use, unsigned depth) const;
  bool reaches(const clang::Expr* value, const clang::Expr* use) const;
  bool replacedBefore(const clang::Expr* value, const clang::Expr* later, const clang::Expr* use) const;

  const Definitions& definitions_;
  const AuthorCode& code_;
  const Dialect& dialect_;
};

}  // namespace hvdize
