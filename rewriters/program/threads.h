// SPDX-License-Identifier: Apache-2.0
// What runs on threads of the program's own: collectives have no order there.
#pragma once

#include "llvm/ADT/DenseSet.h"

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

/// Code that may run beside the main thread: what the workers of a loader call (a data set's methods), the parallel regions of OpenMP
/// (the pragma counts, whether or not the flags switch it on), what is given to std::thread, std::async and pthread_create; and every
/// author's function called there.
class Threads {
 public:
  Threads(const AuthorCode& code, const Dialect& dialect);

  bool mayRun(const clang::Stmt* s) const;

 private:
  void scan(const clang::Stmt* s);
  bool isParallel(const clang::Stmt* s) const;
  void enterCallsOf(const clang::Stmt* s);
  void enter(const clang::FunctionDecl* f);
  void enterCallable(const clang::Expr* e);

  const AuthorCode& code_;
  llvm::DenseSet<const clang::Stmt*> regions_;  ///< parallel statements
  llvm::DenseSet<const clang::FunctionDecl*> functions_;
};

}  // namespace hvdize
