// SPDX-License-Identifier: Apache-2.0
// Containers of the standard library that steps fill.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The call of a method of the container that `use` names: `all.push_back(x)` of `all`.
const CXXMemberCallExpr* callOn(const AuthorCode& code, const Expr* use) {
  const Stmt* p = code.parent(use);
  while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code.parent(p);
  const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
  return call && objectOf(call) && declOf(objectOf(call)) == declOf(use) ? call : nullptr;
}

bool isNamed(const CXXMemberCallExpr* call, std::initializer_list<llvm::StringRef> names) {
  const FunctionDecl* f = calleeOf(call);
  return f && f->getDeclName().isIdentifier() && llvm::is_contained(names, f->getName());
}

}  // namespace

// Does the call add a tensor to a container that steps only add to, and that is read when they are over? What they add is then
// wanted whole: the predictions for a data set, say.
bool Kinds::collectsRows(const Expr* call) const {
  const auto* add = dyn_cast<CXXMemberCallExpr>(call);
  const ValueDecl* d = add ? declOf(objectOf(add)) : nullptr;
  if (!d || !isStdRecord(d->getType().getNonReferenceType()) || !isNamed(add, {"push_back", "emplace_back"}) || batches_.inStep(call) != 2) return false;
  for (const Expr* a : argumentsOf(call))
    if (!isTensor(a->getType())) return false;
  bool read = false;
  for (const Expr* use : definitions_.uses(d)) {
    const auto* on = callOn(code_, use);
    const bool adds = on && isNamed(on, {"push_back", "emplace_back", "reserve"});
    if (batches_.inStep(use) > 0 && !adds) return false;
    read = read || (batches_.inStep(use) == 0 && !adds && !(on && isNamed(on, {"clear"})));
  }
  return read;
}

// `if (step == 0) probe = x.clone();` of a tensor that lives on, and that is read when the steps are over: the rows of some batch, which are wanted whole. (One that
// every step leaves behind is made whole at its end: loopThatLeaves.)
bool Kinds::keepsSome(const ValueDecl* d, const Expr* assignment) const {
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  const bool lives = v ? v->isLocalVarDecl() && !isa<ParmVarDecl>(v) && code_.declStmt(v) && batches_.inStep(code_.declStmt(v)) == 0 : isa_and_nonnull<FieldDecl>(d);
  if (!lives || d->getType()->isReferenceType() || batches_.inStep(assignment) != 2) return false;
  bool some = false;
  for (const Stmt* p = code_.parent(assignment); p && !isLoop(p) && !some; p = code_.parent(p)) some = isa<IfStmt>(p);
  if (!some) return false;
  bool read = false;
  for (const Expr* use : definitions_.uses(d)) {
    if (batches_.inStep(use) == 0) {
      read = true;
      continue;
    }
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<CallExpr>(p);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(call);
    const bool given = o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == strip(use);
    const bool asked = call && !o && objectOf(call) && strip(objectOf(call)) == strip(use) && calleeName(call) == "defined";
    if (!given && !asked) return false;
  }
  return read;
}

// `outs.push_back(out)` in a step, where the list lives on, is read in steps too, and is not emptied in each of them: rows of several batches
// lie in it then, and each batch had slices of its own.
bool Kinds::mixesBatches(const Expr* call) const {
  const auto* add = dyn_cast<CXXMemberCallExpr>(call);
  const ValueDecl* d = add ? declOf(objectOf(add)) : nullptr;
  if (!d || !isStdRecord(d->getType().getNonReferenceType()) || isa<ParmVarDecl>(d) || !addsItem(calleeName(add)) || batches_.inStep(call) != 2) return false;
  bool read = false;
  for (const Expr* use : definitions_.uses(d)) {
    if (batches_.inStep(use) == 0) continue;
    const auto* on = callOn(code_, use);
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    const bool empties = (on && isNamed(on, {"clear", "resize", "assign", "swap"})) || (o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == use);
    bool conditional = false;
    for (const Stmt* at = use; at && !conditional; at = code_.parent(at)) conditional = isa<IfStmt>(at);
    if (empties && !conditional) return false;
    read = read || !(empties || (on && (addsItem(calleeName(on)) || isNamed(on, {"reserve", "size", "empty"}))));
  }
  return read;
}

// `std::vector<float> weights; for (i < batch.size(0)) weights.push_back(...); tensor(weights)`: the loop counts the rows of the whole batch, and
// so many numbers the container holds. Is `e` made from one like that?
bool Kinds::holdsNumberForEachRow(const Expr* made) {
  if (batches_.inStep(made) == 0) return false;
  // The number of rows itself, not a multiple of it.
  const auto counts = [&](const Expr* bound) {
    const Expr* x = strip(bound);
    if (const auto* cast = dyn_cast<ExplicitCastExpr>(x)) x = strip(cast->getSubExpr());
    return (isa<DeclRefExpr>(x) || calleeOf(x)) && eval(x).kind == Kind::Rows;
  };
  // One of these for every row: in the body of a loop over the rows, under no condition and in no loop of its own.
  const auto onceForEachRow = [&](const Stmt* push) {
    const Stmt* p = code_.parent(push);
    while (p && (isa<Expr>(p) || isa<CompoundStmt>(p))) p = code_.parent(p);
    const auto* f = dyn_cast_or_null<ForStmt>(p);
    const auto* until = f ? dyn_cast_or_null<BinaryOperator>(f->getCond() ? strip(f->getCond()) : nullptr) : nullptr;
    return until && !batches_.isStepLoop(f) && (until->getOpcode() == BO_LT || until->getOpcode() == BO_NE) && counts(until->getRHS());
  };
  bool each = false;
  forEachExpr(made, [&](const Expr* x) {
    const auto* d = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    if (each || !d || !isStdRecord(d->getType()) || !d->isLocalVarDecl() || d->isStaticLocal() || !code_.declStmt(d) || batches_.inStep(x) == 0) return;
    if (batches_.inStep(code_.declStmt(d)) == 0) return;  // not made anew in every step, by itself or in a function that the step calls
    if (const auto* k = d->getInit() ? dyn_cast<CXXConstructExpr>(strip(d->getInit())) : nullptr)
      if (const auto given = argumentsOf(k); !given.empty()) each = each || counts(given[0]);
    for (const Expr* use : definitions_.uses(d)) {
      const auto* on = callOn(code_, use);
      if (!on || !isNamed(on, {"push_back", "emplace_back"})) continue;
      each = each || onceForEachRow(on);
    }
  });
  return each;
}

}  // namespace hvdize
