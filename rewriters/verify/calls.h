// SPDX-License-Identifier: Apache-2.0
// Which functions a call may run, and which collectives a statement may reach.
#pragma once

#include <vector>

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/origins.h"

namespace hvdize {

class Calls {
 public:
  Calls(const AuthorCode& code, const Definitions& definitions, const Dialect& dialect);

  /// The author's functions that running `call` may enter: its callee, what a std::function or function pointer holds, and the
  /// functions handed to an opaque callee.
  llvm::SmallVector<const clang::FunctionDecl*, 2> entered(const clang::Expr* call) const;
  /// Those of `entered` whose result is the result of the call.
  llvm::SmallVector<const clang::FunctionDecl*, 2> targets(const clang::Expr* call) const;

  struct Found {
    const clang::Expr* collective = nullptr;
    const clang::Expr* through = nullptr;  ///< the call below the statement that leads to it; null when it is there itself
  };
  /// All collectives that running `s` may reach.
  std::vector<Found> collectives(const clang::Stmt* s) const;
  /// Is the call itself a collective?
  bool isCollective(const clang::Expr* call) const;

  const AuthorCode& code() const { return code_; }
  const Definitions& definitions() const { return definitions_; }
  const Dialect& dialect() const { return dialect_; }

 private:
  using Functions = llvm::SmallVector<const clang::FunctionDecl*, 2>;
  void functionsIn(const clang::Expr* value, Functions& out) const;
  void reach(const clang::FunctionDecl* f, std::vector<const clang::Expr*>& out, llvm::DenseSet<const void*>& seen) const;

  const AuthorCode& code_;
  const Definitions& definitions_;
  const Dialect& dialect_;
  bool syncBatchNorm_ = false;
};

}  // namespace hvdize
