// SPDX-License-Identifier: Apache-2.0
// What the reading of a sample changes and leaves changed: members of the data set or transform, behind references, helpers and containers, too.
#pragma once

#include "rewriters/program/data_draws.h"

namespace hvdize {

class DataChanges {
 public:
  /// `readers`: what is run while a sample is read.
  DataChanges(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const DataFunctions& readers)
      : code_(code), dialect_(dialect), definitions_(definitions), readers_(readers) {}

  /// The variable or field that lives longer than the reading of one sample, and to which the lvalue in this reader belongs; null for anything else.
  const clang::ValueDecl* kept(const clang::Expr* target, const clang::FunctionDecl* reader, unsigned depth = 0) const;
  /// What the expression leaves changed for the next sample, other than by an operator that says so (++, +=): std::exchange, a container that grows,
  /// a value kept for later, a random one kept for this sample. Null where that is nothing.
  const clang::ValueDecl* changed(const clang::Expr* e, const clang::FunctionDecl* reader) const;

 private:
  const clang::ValueDecl* assigned(const clang::Expr* target, const clang::Expr* value, const clang::Expr* at, const clang::FunctionDecl* reader) const;
  bool ofSample(const clang::Stmt* value, const clang::FunctionDecl* reader, unsigned depth = 0) const;
  bool draws(const clang::Stmt* value) const;
  bool readBefore(const clang::ValueDecl* d, const clang::Expr* at) const;
  bool isOfOneSample(const clang::Expr* target, unsigned depth) const;
  bool isGuarded(const clang::ValueDecl* d, const clang::Expr* at) const;
  bool isRead(const clang::ValueDecl* d, const clang::Expr* at) const;

  const AuthorCode& code_;
  const Dialect& dialect_;
  const Definitions& definitions_;
  const DataFunctions& readers_;
};

}  // namespace hvdize
