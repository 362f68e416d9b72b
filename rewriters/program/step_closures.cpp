// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/step_closures.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace hvdize {

namespace {

// Does the program have an optimizer that searches? By the types of what is computed: it may be made in any way.
bool searches(const Sites& sites) {
  bool found = false;
  const auto look = [&](const Expr* e) {
    const Entry* entry = found ? nullptr : sites.dialect().lookup(e->getType());
    found = found || (entry && entry->role == Role::Optimizer && entry->rule == OptimizerRule::Closure);
  };
  for (const Function& f : sites.code().functions()) {
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(f.decl))
      for (const CXXCtorInitializer* init : ctor->inits()) forEachExpr(init->getInit(), look);
    forEachExpr(f.body, look);
  }
  for (const FieldDecl* f : sites.code().fields()) forEachExpr(f->getInClassInitializer(), look);
  for (const ValueDecl* g : sites.code().globals())
    if (const auto* v = dyn_cast<VarDecl>(g)) forEachExpr(v->getInit(), look);
  return found;
}

}  // namespace

const LambdaExpr* closureOf(const Site& step, const Definitions& definitions) {
  const auto arguments = argumentsOf(step.call);
  return step.entry->optimizer < 0 && arguments.size() == 1 ? lambdaBehind(definitions, arguments[0]) : nullptr;
}

llvm::DenseMap<const FunctionDecl*, llvm::SmallVector<const Expr*, 2>> stepsWithClosures(const Sites& sites, const Definitions& definitions) {
  llvm::DenseMap<const FunctionDecl*, llvm::SmallVector<const Expr*, 2>> steps;
  for (const Site& step : sites.of(Role::Step))
    if (const LambdaExpr* l = closureOf(step, definitions); l && l->getCallOperator()) steps[l->getCallOperator()->getCanonicalDecl()].push_back(step.call);
  return steps;
}

llvm::DenseSet<const FunctionDecl*> searchedClosures(const Sites& sites, const Definitions& definitions) {
  llvm::DenseSet<const FunctionDecl*> closures;
  for (const auto& [f, steps] : stepsWithClosures(sites, definitions)) closures.insert(f);
  if (!closures.empty() && !searches(sites)) closures.clear();
  return closures;
}

}  // namespace hvdize
