// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/accumulated.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The innermost loop around in which an optimizer steps behind the inner one; null when it steps in that, or nowhere around.
const Stmt* loopThatSteps(const Model& m, const Stmt* inner) {
  const auto steps = [&](const Stmt* loop) {
    return llvm::any_of(m.sites.of(Role::Step), [&](const Site& s) { return m.batches.belongs(s.call, loop); });
  };
  if (steps(inner)) return nullptr;
  for (const Stmt* p = m.code.parent(inner); p; p = m.code.parent(p))
    if (isLoop(p) && steps(p)) return p;
  return nullptr;
}

// The integer variables that the parts are taken by: named in the inner loop, or what those are made from.
llvm::DenseSet<const ValueDecl*> variablesOf(const Model& m, const Stmt* inner) {
  llvm::DenseSet<const ValueDecl*> named;
  const auto add = [&](const Expr* e) {
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (v && v->isLocalVarDecl() && v->getType()->isIntegerType()) named.insert(v);
  };
  forEachExpr(inner, add);
  const llvm::SmallVector<const ValueDecl*, 8> direct(named.begin(), named.end());
  for (const ValueDecl* v : direct)
    for (const Definition& def : m.definitions.of(v))
      if (def.value) forEachExpr(def.value, add);
  return named;
}

// Where the parts end, of a loop that moves on by more than one; null for any other.
const Expr* endOfParts(const Stmt* inner) {
  const auto* f = dyn_cast<ForStmt>(inner);
  const auto* w = dyn_cast<WhileStmt>(inner);
  const Expr* until = f ? f->getCond() : w ? w->getCond() : nullptr;
  const auto* condition = until ? dyn_cast<BinaryOperator>(until->IgnoreParenImpCasts()) : nullptr;
  const ValueDecl* at = condition && condition->isRelationalOp() ? declOf(condition->getLHS()) : nullptr;
  bool strides = false;
  forEachExpr(inner, [&](const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    strides = strides || (b && b->getOpcode() == BO_AddAssign && at && declOf(b->getLHS()) == at);
  });
  return strides ? condition->getRHS() : nullptr;
}

bool isProductWith(const BinaryOperator* b, const ValueDecl* d) {
  return b && b->getOpcode() == BO_Mul && d && (declOf(strip(b->getLHS())) == d || declOf(strip(b->getRHS())) == d);
}

// `for (k = 0; k < 4; ++k)`: does the number of the part say where it begins, `begin + k * part`?
bool placesByNumber(const Stmt* inner) {
  const auto* f = dyn_cast<ForStmt>(inner);
  const auto* step = f ? dyn_cast_or_null<UnaryOperator>(f->getInc() ? f->getInc()->IgnoreParens() : nullptr) : nullptr;
  const ValueDecl* number = step && step->isIncrementOp() ? declOf(strip(step->getSubExpr())) : nullptr;
  bool places = false;
  forEachExpr(number ? f->getBody() : nullptr, [&](const Expr* e) { places = places || (e->getType()->isIntegerType() && isProductWith(dyn_cast<BinaryOperator>(e), number)); });
  return places;
}

}  // namespace

WholeOfParts wholeOfParts(const Model& m, const HandLoop& loop) {
  WholeOfParts whole;
  // Of a loader's batches the size is that of the loader, which the end of the parts may be once more.
  if (m.batches.isPartLoop(loop.loop)) {
    const Expr* last = endOfParts(loop.loop);
    whole.ofLoader = true;
    whole.end = last && isa<IntegerLiteral>(strip(last)) ? last : nullptr;
    return whole;
  }
  const Stmt* outer = loopThatSteps(m, loop.loop);
  const Expr* end = outer ? endOfParts(loop.loop) : nullptr;
  if (!outer || (!end && !placesByNumber(loop.loop))) return whole;
  const llvm::DenseSet<const ValueDecl*> named = variablesOf(m, loop.loop);
  const auto* f = dyn_cast<ForStmt>(outer);
  const ValueDecl* limit = end ? declOf(strip(end)) : nullptr;
  forEachExpr(outer, [&](const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || isWithin(m.code, b, loop.loop)) return;
    if (isProductWith(b, limit)) whole.sizes.push_back(end);  // begin = number * size, and the parts end at `size`
    if (b->getOpcode() != BO_AddAssign || !named.count(declOf(b->getLHS()))) return;
    whole.sizes.push_back(b->getRHS());
    if (f && f->getInc() && f->getInc()->IgnoreParens() == b) whole.around = f, whole.stride = b;
  });
  whole.seen = !whole.sizes.empty();
  return whole;
}

}  // namespace hvdize
