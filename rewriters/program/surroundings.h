// SPDX-License-Identifier: Apache-2.0
// What runs beside the flow of control that the source shows: threads and signal handlers.
#pragma once

#include "rewriters/program/origins.h"

namespace hvdize {

class Surroundings {
 public:
  explicit Surroundings(const Definitions& definitions);

  /// Is this variable changed by another thread or by a signal handler, at a time of its own on every rank?
  bool changesByItself(const clang::ValueDecl* d) const { return shared_.count(d); }
  /// Is this function run by another thread or by a signal?
  bool runsBeside(const clang::FunctionDecl* f) const { return f && beside_.count(f->getCanonicalDecl()); }

 private:
  using Functions = llvm::DenseSet<const clang::FunctionDecl*>;
  void findBeside(const clang::Expr* e);
  void close(Functions& functions) const;
  void addRunning(const clang::Expr* function, Functions& out) const;
  void findShared();

  const Definitions& definitions_;
  const AuthorCode& code_;
  Functions beside_, handlers_;
  llvm::DenseSet<const clang::ValueDecl*> shared_;
};

}  // namespace hvdize
