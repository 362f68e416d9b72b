// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/closures.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/step_closures.h"

using namespace clang;

namespace hvdize {

namespace {

unsigned returnsIn(const Stmt* s) {
  if (!s || isa<LambdaExpr>(s)) return 0;
  unsigned n = isa<ReturnStmt>(s) ? 1 : 0;
  for (const Stmt* c : s->children()) n += returnsIn(c);
  return n;
}

// Can the lambda name what the object names, as the object does?
bool names(const LambdaExpr* closure, const Expr* object) {
  const Expr* e = strip(object);
  // A member of the object whose method it is written in.
  if (const auto* member = dyn_cast<MemberExpr>(e); member && isa<CXXThisExpr>(strip(member->getBase())))
    return llvm::any_of(closure->captures(), [](const LambdaCapture& c) { return c.capturesThis() && c.getCaptureKind() == LCK_This; });
  const auto* d = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(object)) : nullptr;
  if (!d) return false;
  if (d->hasGlobalStorage() || closure->getCaptureDefault() == LCD_ByRef) return true;
  return llvm::any_of(closure->captures(), [&](const LambdaCapture& c) { return c.capturesVariable() && c.getCaptureKind() == LCK_ByRef && c.getCapturedVar() == d; });
}

}  // namespace

const ReturnStmt* closureEnd(const Model& m, const Site& step) {
  const Expr* object = objectOf(step.call);
  const LambdaExpr* closure = object ? closureOf(step, m.definitions) : nullptr;
  const auto* body = closure ? dyn_cast_or_null<CompoundStmt>(closure->getBody()) : nullptr;
  if (!body || body->body_empty() || !names(closure, object)) return nullptr;
  const auto* end = dyn_cast<ReturnStmt>(body->body_back());
  if (!end || !end->getRetValue() || returnsIn(body) != 1 || m.sites.reaches(end, Role::Backward)) return nullptr;
  return m.sites.reaches(body, Role::Backward) ? end : nullptr;
}

bool isInClosure(const Model& m, const Stmt* s, const Site& step) {
  const ReturnStmt* end = closureEnd(m, step);
  return end && m.code.functionOf(end) == m.code.functionOf(s);
}

}  // namespace hvdize
