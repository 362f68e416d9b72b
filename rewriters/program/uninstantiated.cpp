// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/uninstantiated.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSet.h"

#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

// The last part of the names that play `role`: "step" of hvd::optim::Optimizer::step.
void collectNames(const Dialect& dialect, Role role, llvm::StringSet<>& names) {
  for (const Entry* entry : dialect.entries())
    if (entry->role == role) names.insert(llvm::StringRef(entry->name).rsplit(':').second);
}

// What a call in a template names, whether its types are known or not.
std::string calledName(const Expr* e) {
  if (const auto* m = dyn_cast<CXXDependentScopeMemberExpr>(e)) return m->getMember().getAsString();
  if (const auto* o = dyn_cast<OverloadExpr>(e)) return o->getName().getAsString();
  if (const auto* m = dyn_cast<MemberExpr>(e)) return m->getMemberDecl()->getNameAsString();
  return "";
}

// Lambdas in a template belong to it.
template <typename F>
void forEachExprInPattern(const Stmt* s, F&& f) {
  if (!s) return;
  if (const auto* e = dyn_cast<Expr>(s)) f(e);
  if (const auto* l = dyn_cast<LambdaExpr>(s)) return forEachExprInPattern(l->getBody(), f);
  for (const Stmt* c : s->children()) forEachExprInPattern(c, f);
}

}  // namespace

bool mayHoldFacts(const FunctionDecl* pattern) {
  bool calls = false;
  forEachExprInPattern(pattern->getBody(), [&](const Expr* e) { calls = calls || isa<CallExpr, CXXUnresolvedConstructExpr>(e); });
  return calls;
}

bool mayTrain(const Dialect& dialect, const FunctionDecl* pattern) {
  llvm::StringSet<> names;
  collectNames(dialect, Role::Step, names);
  collectNames(dialect, Role::Backward, names);
  bool trains = false;
  forEachExprInPattern(pattern->getBody(), [&](const Expr* e) { trains = trains || names.contains(calledName(e)); });
  return trains;
}

}  // namespace hvdize
