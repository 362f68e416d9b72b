// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/quantities.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

/// Is this mention of a variable a read of its value (and not the target of an assignment, `&x`, or a reference that may write)?
bool isRead(const AuthorCode& code, const Expr* use) {
  const Stmt* below = use;
  for (const Stmt* p = code.parent(use); p; below = p, p = code.parent(p)) {
    if (isa<ParenExpr>(p)) continue;
    if (const auto* c = dyn_cast<ImplicitCastExpr>(p)) {
      if (c->getCastKind() == CK_LValueToRValue) return true;
      if (c->getCastKind() == CK_NoOp && c->getType().isConstQualified()) return true;  // bound to a reference to const
      continue;
    }
    if (const auto* b = dyn_cast<BinaryOperator>(p); b && b->isAssignmentOp()) return b->getRHS() == below;
    return false;
  }
  return false;
}

}  // namespace

void Quantity::trace(const Expr* sink) {
  if (places_.count(sink)) return;
  const Expr* e = strip(sink);
  const ValueDecl* d = declOf(e);
  if (d && !isa<FunctionDecl, EnumConstantDecl>(d) && !isSystemDecl(d)) return traceDecl(d, sink);
  places_.insert(sink);
}

void Quantity::traceDecl(const ValueDecl* d, const Expr* sink) {
  if (!scaled_.insert(d).second) return;
  const auto* v = dyn_cast<VarDecl>(d);
  const bool local = v && v->isLocalVarDeclOrParm() && !v->isStaticLocal() && !v->isConstexpr();
  if (!local) return traceReads(d);
  const auto definitions = definitions_.of(d);
  bool traceable = !definitions.empty();
  for (const Definition& def : definitions) {
    if (!def.value || def.through) traceable = false;  // a helper that reads one option may read all of them
    if (def.compound && changes_ == Changes::Absolute) traceable = false;
  }
  if (!traceable) {
    if (isa<ParmVarDecl>(d)) places_.insert(sink);
    else traceReads(d);
    return;
  }
  const auto inStep = [&](const Definition& def) { return training_(def.value); };
  const bool calledByStep = training_ && isa<ParmVarDecl>(d) && llvm::any_of(definitions, inStep);
  for (const Definition& def : definitions) {
    if (def.compound || (calledByStep && !inStep(def))) continue;
    if (derived(def.value) && !declOf(def.value)) continue;
    trace(def.value);
  }
}

void Quantity::traceReads(const ValueDecl* d) {
  bool given = false, written = false;
  for (const Definition& def : definitions_.of(d))
    if (def.value && !def.compound) (known_ && known_(def.value) ? given : written) = true;
  if (given && !written) return;  // takes over what is scaled
  if (given)
    for (const Expr* use : definitions_.uses(d))
      if (isRead(definitions_.code(), use)) return (void)mixed_.insert(use);
  for (const Expr* use : definitions_.uses(d))
    if (isRead(definitions_.code(), use)) places_.insert(use);
}

bool Quantity::derived(const Expr* e) const {
  llvm::DenseSet<const void*> seen;
  return derived(e, seen);
}

bool Quantity::derived(const Expr* e, llvm::DenseSet<const void*>& seen) const {
  bool yes = false;
  forEachExpr(e, [&](const Expr* x) {
    if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr) {
      yes = yes || scaled_.count(d);
      const auto* v = dyn_cast<VarDecl>(d);
      if (v && v->isLocalVarDecl() && seen.insert(v).second)
        for (const Definition& def : definitions_.of(v))
          if (def.value) yes = yes || derived(def.value, seen);
    }
    yes = yes || places_.count(x);
    // What an author's function returns may be made from it.
    for (const FunctionDecl* f : definitions_.code().targets(x))
      if (seen.insert(f->getCanonicalDecl()).second)
        for (const Expr* r : definitions_.returns(f)) yes = yes || derived(r, seen);
  });
  return yes;
}

}  // namespace hvdize
