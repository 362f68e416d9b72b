// SPDX-License-Identifier: Apache-2.0
// What runs beside the flow of control that the source shows: threads and signal handlers.
#pragma once

#include "rewriters/program/origins.h"

namespace hvdize {

using Functions = llvm::DenseSet<const clang::FunctionDecl*>;

/// A place where a thread is started.
struct ThreadStart {
  const clang::Expr* call;
  Functions direct;       ///< what it is given to run
  Functions functions;    ///< that, and all that is called there
  unsigned first = 1;  ///< the argument of the call that is the first one of the function
};

class Surroundings {
 public:
  explicit Surroundings(const Definitions& definitions);

  /// Is this variable changed by another thread or by a signal handler, at a time of its own on every rank?
  bool changesByItself(const clang::ValueDecl* d) const { return shared_.count(d); }
  /// Is this function run by another thread or by a signal?
  bool runsBeside(const clang::FunctionDecl* f) const { return f && beside_.count(f->getCanonicalDecl()); }
  const std::vector<ThreadStart>& starts() const { return starts_; }
  /// Adds what the functions call, at any depth.
  void close(Functions& functions) const;

 private:
  void findBeside(const clang::Expr* e);
  void addRunning(const clang::Expr* function, Functions& out) const;
  void findShared();

  const Definitions& definitions_;
  const AuthorCode& code_;
  Functions beside_, handlers_;
  std::vector<ThreadStart> starts_;
  llvm::DenseSet<const clang::ValueDecl*> shared_;
};

}  // namespace hvdize
