// SPDX-License-Identifier: Apache-2.0
// Functions whose results depend on their arguments, and on what all ranks have alike: called with what all ranks have, they give what all ranks have.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// A parameter or variable of a function, a part of one, or a part of the object that the function is called on, which is an argument like others.
static bool isOwn(const Expr* x) {
  for (x = strip(x); const auto* m = dyn_cast<MemberExpr>(x); x = strip(m->getBase()))
    if (isa<CXXThisExpr>(strip(m->getBase()))) return true;
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(x)) return isOwn(o->getArg(0));  // rows[i].x, pointer->x
  if (isa<CallExpr>(x)) return true;                                                 // what it makes is judged by itself
  const auto* v = dyn_cast_or_null<VarDecl>(isa<DeclRefExpr>(x) ? declOf(x) : nullptr);
  return v && v->isLocalVarDeclOrParm() && !v->isStaticLocal();
}

// A lambda of the function's own, which sees its parameters and variables: part of it.
static bool capturesOwn(const LambdaExpr* l, const FunctionDecl* f) {
  return llvm::all_of(l->captures(), [&](const LambdaCapture& c) {
    return c.capturesThis() || (c.capturesVariable() && (c.getCapturedVar()->isInitCapture() || c.getCapturedVar()->getParentFunctionOrMethod() == f));
  });
}

// Does the function make what it returns from its arguments and from what all ranks have alike?
bool Kinds::onlyFromArguments(const FunctionDecl* f, llvm::DenseSet<const FunctionDecl*>& seen) const {
  if (!seen.insert(f->getCanonicalDecl()).second) return true;
  const Function* known = code_.find(f);
  if (!known) return false;
  bool only = true;
  forEachExpr(known->body, [&](const Expr* x) {
    if (batches_.shards().count(x)) only = false;
    if (const auto* l = dyn_cast<LambdaExpr>(x)) only = only && capturesOwn(l, known->decl) && onlyFromArguments(l->getCallOperator(), seen);
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    const bool own = isOwn(x);
    if (d && !own && !isa<FunctionDecl>(d) && decls_.lookup(d).dependsOnSamples()) only = false;
    const Expr* on = objectOf(x);
    if (on && !isa<CXXThisExpr>(strip(on)) && !isOwn(on) && hasSampleFields(on->getType())) only = false;
    for (const FunctionDecl* inner : code_.targets(x)) only = only && onlyFromArguments(inner, seen);
  });
  return only;
}

}  // namespace hvdize
