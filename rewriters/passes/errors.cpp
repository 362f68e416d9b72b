// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/errors.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

void forEachHandler(const Stmt* s, llvm::function_ref<void(const CXXCatchStmt*)> f) {
  if (!s || isa<LambdaExpr>(s)) return;
  if (const auto* handler = dyn_cast<CXXCatchStmt>(s)) f(handler);
  for (const Stmt* c : s->children()) forEachHandler(c, f);
}

const Expr* conditionOf(const Stmt* s) {
  if (const auto* i = dyn_cast<IfStmt>(s)) return i->getCond();
  if (const auto* w = dyn_cast<WhileStmt>(s)) return w->getCond();
  if (const auto* d = dyn_cast<DoStmt>(s)) return d->getCond();
  if (const auto* f = dyn_cast<ForStmt>(s)) return f->getCond();
  if (const auto* w = dyn_cast<SwitchStmt>(s)) return w->getCond();
  if (const auto* c = dyn_cast<AbstractConditionalOperator>(s)) return c->getCond();
  return nullptr;
}

}  // namespace

ErrorReports::ErrorReports(const Model& model) : model_(model) {
  for (const Function& f : model_.code.functions()) forEachHandler(f.body, [&](const CXXCatchStmt* h) { enter(h->getHandlerBlock()); });
}

void ErrorReports::enter(const Stmt* s) {
  forEachExpr(s, [&](const Expr* e) {
    if (!isa<CallExpr, CXXConstructExpr>(e)) return;
    for (const FunctionDecl* f : model_.code.targets(e))
      if (called_.insert(f->getCanonicalDecl()).second) enter(model_.code.find(f)->body);
  });
}

// A way out that says "this went wrong": a throw, an exit, a return of a number other than 0, of false or of null.
bool ErrorReports::fails(const Stmt* s) const {
  if (const auto* r = dyn_cast<ReturnStmt>(s)) {
    const Expr* value = r->getRetValue();
    Expr::EvalResult result;
    if (!value || value->isValueDependent()) return false;
    if (value->getType()->isPointerType()) return value->isNullPointerConstant(model_.context.ast, Expr::NPC_ValueDependentIsNotNull);
    if (!value->getType()->isIntegralOrEnumerationType() || !value->EvaluateAsInt(result, model_.context.ast)) return false;
    return value->getType()->isBooleanType() ? result.Val.getInt() == 0 : result.Val.getInt() != 0;
  }
  const auto* e = dyn_cast<Expr>(s);
  e = e ? strip(e) : nullptr;
  return e && (isa<CXXThrowExpr>(e) || hostRole(calleeOf(e)) == HostRole::Exit);
}

bool ErrorReports::precedesFailure(const Stmt* s) const {
  const Stmt* block = model_.code.parent(s);
  while (block && !isa<CompoundStmt>(block)) {
    const auto* pair = dyn_cast<BinaryOperator>(block);
    if (pair && pair->getOpcode() == BO_Comma && pair->getLHS() == s && fails(pair->getRHS())) return true;
    s = block;
    block = model_.code.parent(block);
  }
  bool behind = false;
  for (const Stmt* c : block ? block->children() : Stmt::const_child_range(Stmt::const_child_iterator(), Stmt::const_child_iterator())) {
    if (behind && fails(c)) return true;
    behind = behind || c == s;
  }
  return false;
}

// Made from the command line's arguments, from numbers of the whole batch and from literals only.
bool ErrorReports::sameOnAllRanks(const Expr* condition) const {
  bool same = true;
  forEachExpr(condition, [&](const Expr* e) {
    if (calleeOf(e) || isa<MemberExpr, LambdaExpr>(e)) same = false;
    const auto* r = dyn_cast<DeclRefExpr>(e);
    if (!r || isa<FunctionDecl, EnumConstantDecl>(r->getDecl())) return;
    const auto* p = dyn_cast<ParmVarDecl>(r->getDecl());
    const bool argument = p && isa<FunctionDecl>(p->getDeclContext()) && cast<FunctionDecl>(p->getDeclContext())->isMain();
    if (!argument && model_.kinds.ofDecl(r->getDecl()).kind != Kind::Whole) same = false;
  });
  return same;
}

bool ErrorReports::reachedByAll(const Stmt* s) const {
  for (const Stmt* p = model_.code.parent(s); p; p = model_.code.parent(p))
    if (const Expr* condition = conditionOf(p); condition && !sameOnAllRanks(condition)) return false;
  const FunctionDecl* f = model_.code.functionOf(s);
  return f && f->isMain();
}

static bool isOfLibrary(const FunctionDecl* f) {
  const auto* m = dyn_cast<CXXMethodDecl>(f);
  return m ? m->getParent()->isInStdNamespace() : f->isInStdNamespace();
}

// try { load(net, path); } catch (...): nothing in it but what the root does and all ranks hear of: then all have the same error.
bool ErrorReports::failsAlike(const Stmt* block) const {
  bool loads = false, only = true;
  forEachExpr(block, [&](const Expr* e) {
    if (isa<LambdaExpr, CXXThrowExpr, CXXNewExpr>(e)) only = false;
    const FunctionDecl* f = calleeOf(e);
    if (!f) only = only && !isa<CallExpr>(e);
    else if (model_.context.dialect.is(e, Role::Load)) loads = true;
    else only = only && isOfLibrary(f);
  });
  return loads && only;
}

bool ErrorReports::contains(const Expr* output, bool toErrors) const {
  for (const Stmt* p = output; p; p = model_.code.parent(p))
    if (isa<CXXCatchStmt>(p)) {
      const auto* whole = dyn_cast_or_null<CXXTryStmt>(model_.code.parent(p));
      return !whole || !failsAlike(whole->getTryBlock());
    }
  if (!toErrors) return false;
  const FunctionDecl* f = model_.code.functionOf(output);
  if (f && called_.contains(f->getCanonicalDecl())) return true;
  return precedesFailure(output) && !reachedByAll(output);
}

}  // namespace hvdize
