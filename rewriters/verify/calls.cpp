// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/calls.h"

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

Calls::Calls(const AuthorCode& code, const Definitions& definitions, const Dialect& dialect)
    : code_(code), definitions_(definitions), dialect_(dialect) {
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) { syncBatchNorm_ = syncBatchNorm_ || isSyncBatchNorm(e); });
}

/// The functions a callable value may stand for.
void Calls::functionsIn(const Expr* value, Functions& out) const {
  const auto add = [&](const FunctionDecl* f) {
    if (const Function* known = code_.find(f); known && !llvm::is_contained(out, known->decl)) out.push_back(known->decl);
  };
  for (const Expr* o : definitions_.origins(value)) {
    o = strip(o);
    if (const auto* l = dyn_cast_or_null<LambdaExpr>(o)) {
      add(l->getCallOperator());
      if (const FunctionTemplateDecl* t = l->getDependentCallOperator())
        for (const FunctionDecl* s : t->specializations()) add(s);
    } else if (const auto* u = dyn_cast_or_null<UnaryOperator>(o)) {
      o = strip(u->getSubExpr());
    }
    if (const auto* r = dyn_cast_or_null<DeclRefExpr>(o))
      if (const auto* f = dyn_cast<FunctionDecl>(r->getDecl())) add(f);
  }
  // A function is not followed by origins: it is no value that somebody made.
  const Expr* plain = strip(value);
  if (const auto* u = dyn_cast_or_null<UnaryOperator>(plain); u && u->getOpcode() == UO_AddrOf) plain = strip(u->getSubExpr());
  if (const auto* r = dyn_cast_or_null<DeclRefExpr>(plain))
    if (const auto* f = dyn_cast<FunctionDecl>(r->getDecl())) add(f);
}

Calls::Functions Calls::targets(const Expr* call) const {
  Functions out = code_.targets(call);
  if (!out.empty()) return out;
  const auto* c = dyn_cast<CallExpr>(call);
  if (!c) return out;
  if (!calleeOf(call)) functionsIn(c->getCallee(), out);
  const Expr* object = objectOf(call);
  if (object && isStdFunction(object->getType())) functionsIn(object, out);
  return out;
}

Calls::Functions Calls::entered(const Expr* call) const {
  Functions out = targets(call);
  if (!out.empty()) return out;
  // An opaque function may call what it is given.
  for (const Expr* a : argumentsOf(call)) {
    const Expr* plain = strip(a);
    if (!plain) continue;
    const QualType t = plain->getType();
    const CXXRecordDecl* r = t->getAsCXXRecordDecl();
    if ((r && r->isLambda()) || isStdFunction(t) || t->isFunctionType() || t->isFunctionPointerType()) functionsIn(plain, out);
  }
  return out;
}

bool Calls::isCollective(const Expr* call) const {
  if (const Word* w = wordOf(call); w && w->collective) return true;
  return syncBatchNorm_ && calleeOf(call) && dialect_.is(call, Role::Forward);
}

void Calls::reach(const FunctionDecl* f, std::vector<const Expr*>& out, llvm::DenseSet<const void*>& seen) const {
  const Function* known = code_.find(f);
  if (!known || !seen.insert(known->body).second) return;
  forEachExpr(known->body, [&](const Expr* e) {
    if (!isa<CallExpr, CXXConstructExpr>(e)) return;
    if (isCollective(e)) out.push_back(e);
    for (const FunctionDecl* t : entered(e)) reach(t, out, seen);
  });
}

std::vector<Calls::Found> Calls::collectives(const Stmt* s) const {
  std::vector<Found> out;
  forEachExpr(s, [&](const Expr* e) {
    if (!isa<CallExpr, CXXConstructExpr>(e)) return;
    if (isCollective(e)) out.push_back({e, nullptr});
    for (const FunctionDecl* t : entered(e)) {
      std::vector<const Expr*> inner;
      llvm::DenseSet<const void*> seen;
      reach(t, inner, seen);
      for (const Expr* c : inner) out.push_back({c, e});
    }
  });
  return out;
}

}  // namespace hvdize
