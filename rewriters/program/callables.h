// SPDX-License-Identifier: Apache-2.0
// Which of the author's functions run when a std::function or a function pointer is called.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include "clang/AST/ExprCXX.h"

namespace hvdize {

class AuthorCode;

class Callables {
 public:
  explicit Callables(const AuthorCode& code);

  /// Is this a call through an object that holds a function?
  static bool isIndirect(const clang::Expr* call);
  /// The functions and call operators that the called object may hold; empty when one of them may come from elsewhere.
  llvm::SmallVector<const clang::FunctionDecl*, 2> targets(const clang::Expr* call) const;
  /// Where that is not to be seen: the functions and call operators of the program with this result that some object may hold.
  llvm::SmallVector<const clang::FunctionDecl*, 8> candidates(clang::QualType result) const;

 private:
  using Found = llvm::SetVector<const clang::FunctionDecl*>;
  void scan(const clang::Stmt* s, const clang::FunctionDecl* f);
  void scanExpr(const clang::Expr* e);
  void flow(const clang::ValueDecl* to, const clang::Expr* value);
  bool resolve(const clang::Expr* e, llvm::DenseSet<const void*>& seen, Found& out) const;
  bool resolveDecl(const clang::ValueDecl* d, llvm::DenseSet<const void*>& seen, Found& out) const;
  bool resolveParts(const clang::Stmt* s, llvm::DenseSet<const void*>& seen, Found& out) const;

  const AuthorCode& code_;
  llvm::DenseMap<const clang::ValueDecl*, std::vector<const clang::Expr*>> into_;
  llvm::DenseMap<const clang::FunctionDecl*, std::vector<const clang::Expr*>> returned_;
  Found held_;  ///< all functions that are named elsewhere than in a call of them, and all lambdas
};

}  // namespace hvdize
