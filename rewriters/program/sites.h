// SPDX-License-Identifier: Apache-2.0
// Where in the author's code which role is played, and what a statement or function may reach through calls.
#pragma once

#include <map>
#include <vector>

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

struct Site {
  const clang::Expr* call = nullptr;
  const Entry* entry = nullptr;
  const clang::FunctionDecl* function = nullptr;
};

class Sites {
 public:
  Sites(const AuthorCode& code, const Dialect& dialect);

  llvm::ArrayRef<Site> of(Role role) const;
  /// May running `s` (its calls and the lambdas it passes on included) play `role`?
  bool reaches(const clang::Stmt* s, Role role) const;
  bool functionReaches(const clang::FunctionDecl* f, Role role) const;

  /// The loops around `s` in its function, innermost first.
  std::vector<const clang::Stmt*> loopsAround(const clang::Stmt* s) const;
  const AuthorCode& code() const { return code_; }
  const Dialect& dialect() const { return dialect_; }

 private:
  void scan(const clang::Stmt* s, const clang::FunctionDecl* f);

  const AuthorCode& code_;
  const Dialect& dialect_;
  std::map<Role, std::vector<Site>> sites_;
  mutable std::map<std::pair<const clang::FunctionDecl*, Role>, int> reach_;
};

bool isLoop(const clang::Stmt* s);
const clang::Stmt* loopBody(const clang::Stmt* s);
/// Every expression below `s`, the bodies of lambdas that are arguments of a call included.
template <typename F>
void forEachExpr(const clang::Stmt* s, F&& f) {
  if (!s) return;
  if (const auto* e = llvm::dyn_cast<clang::Expr>(s)) f(e);
  if (const auto* l = llvm::dyn_cast<clang::LambdaExpr>(s)) {
    for (const clang::Expr* init : l->capture_inits()) forEachExpr(init, f);
    return;
  }
  for (const clang::Stmt* c : s->children()) forEachExpr(c, f);
}

}  // namespace hvdize
