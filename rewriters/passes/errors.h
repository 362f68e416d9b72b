// SPDX-License-Identifier: Apache-2.0
// Output that reports an error: the rank that has the error must show it.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

class ErrorReports {
 public:
  explicit ErrorReports(const Model& model);
  /// Does this output (an expression that writes to the console) report an error that one rank alone may have: in a handler, in a
  /// function that a handler calls, or before the function fails? `toErrors`: it goes to an error stream.
  bool contains(const clang::Expr* output, bool toErrors) const;

 private:
  void enter(const clang::Stmt* s);
  bool failsAlike(const clang::Stmt* block) const;
  bool fails(const clang::Stmt* s) const;
  bool precedesFailure(const clang::Stmt* s) const;
  bool sameOnAllRanks(const clang::Expr* condition) const;
  bool reachedByAll(const clang::Stmt* s) const;

  const Model& model_;
  llvm::DenseSet<const clang::FunctionDecl*> called_;  ///< by handlers
};

}  // namespace hvdize
