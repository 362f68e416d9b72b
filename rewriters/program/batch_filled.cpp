// SPDX-License-Identifier: Apache-2.0
// Lists that a loop fills until they are as long as a batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

// `rows.size()`, whatever it is cast to: the list; null otherwise.
static const ValueDecl* listCounted(const Expr* counted) {
  counted = strip(counted);
  while (const auto* cast = dyn_cast_or_null<ExplicitCastExpr>(counted)) counted = strip(cast->getSubExpr());
  return calleeName(counted) == "size" && objectOf(counted) ? declOf(objectOf(counted)) : nullptr;
}

// A list's size compared with a number: the list, how (as if the list stood on the left), and the number.
struct SizeComparison {
  const ValueDecl* list = nullptr;
  BinaryOperatorKind how = BO_Comma;
  const Expr* size = nullptr;
};

static SizeComparison sizeCompared(const BinaryOperator* b) {
  if (!b->isComparisonOp()) return {};
  if (const ValueDecl* list = listCounted(b->getLHS())) return {list, b->getOpcode(), b->getRHS()};
  const bool ordered = b->isRelationalOp();
  if (const ValueDecl* list = listCounted(b->getRHS())) return {list, ordered ? BinaryOperator::reverseComparisonOp(b->getOpcode()) : b->getOpcode(), b->getLHS()};
  return {};
}

// Is the list filled by one push in the block itself?
static bool filledOnce(const Stmt* body, const ValueDecl* list) {
  unsigned here = 0;
  const auto* block = dyn_cast<CompoundStmt>(body);
  if (!block) return false;
  for (const Stmt* s : block->body())
    if (const auto* e = dyn_cast_or_null<Expr>(s))
      if (const auto* call = dyn_cast<CXXMemberCallExpr>(strip(e)); call && objectOf(call) && declOf(objectOf(call)) == list && (calleeName(call) == "push_back" || calleeName(call) == "emplace_back")) ++here;
  return here == 1;
}

// n where the loop goes on while the list, or one that is filled beside it, is shorter than n, whatever else ends it; null otherwise.
const Expr* Model::sizeReached(const Stmt* loop, const VarDecl* list) const {
  const Expr* condition = nullptr;
  const Stmt* body = nullptr;
  if (const auto* w = dyn_cast<WhileStmt>(loop)) condition = w->getCond(), body = w->getBody();
  if (const auto* f = dyn_cast<ForStmt>(loop)) condition = f->getCond(), body = f->getBody();
  if (!condition || !body) return nullptr;
  const auto reached = [&](auto&& self, const Expr* e) -> const Expr* {
    const auto* b = dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts());
    if (!b) return nullptr;
    if (b->getOpcode() == BO_LAnd) {
      const Expr* first = self(self, b->getLHS());
      return first ? first : self(self, b->getRHS());
    }
    const SizeComparison c = sizeCompared(b);
    const bool beside = c.list && (c.list == list || (filledOnce(body, c.list) && filledOnce(body, list)));
    return beside && (c.how == BO_LT || c.how == BO_NE) ? c.size : nullptr;
  };
  return reached(reached, condition);
}

// Is the list emptied somewhere, by its own name or by that of a reference to it?
bool Model::isEmptied(const VarDecl* list) const {
  const auto emptied = [&](const ValueDecl* d) {
    return llvm::any_of(definitions.uses(d), [&](const Expr* use) {
      const Stmt* p = code.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code.parent(p);
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
      return call && calleeName(call) == "clear" && objectOf(call) && declOf(objectOf(call)) == d;
    });
  };
  if (emptied(list)) return true;
  return llvm::any_of(definitions.uses(list), [&](const Expr* use) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    const auto arguments = call && calleeOf(call) ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (const ParmVarDecl* to = strip(arguments[i]) == strip(use) ? parameterOf(call, i) : nullptr; to && to->getType()->isLValueReferenceType() && emptied(to)) return true;
    return false;
  });
}

// n of `if (rows.size() == n) { a step; rows.clear(); }` and `if (rows.size() < n) continue;` in a loop that pushes one row in each round.
const Expr* Model::sizeThatSteps(const Stmt* loop, const VarDecl* list) const {
  const Stmt* body = nullptr;
  if (const auto* w = dyn_cast<WhileStmt>(loop)) body = w->getBody();
  if (const auto* f = dyn_cast<ForStmt>(loop)) body = f->getBody();
  if (const auto* r = dyn_cast<CXXForRangeStmt>(loop)) body = r->getBody();
  const auto* block = dyn_cast_or_null<CompoundStmt>(body);
  if (!block || !filledOnce(block, list) || !isEmptied(list)) return nullptr;
  for (const Stmt* s : block->body()) {
    const auto* i = dyn_cast<IfStmt>(s);
    if (!i || i->getElse()) continue;
    const Stmt* then = i->getThen();
    if (const auto* braces = dyn_cast<CompoundStmt>(then); braces && braces->size() == 1) then = braces->body_front();
    const bool waits = isa<ContinueStmt>(then);
    // `rows.size() == n || last`: also where no more come.
    const auto enough = [&](auto&& self, const Expr* e) -> const Expr* {
      const auto* b = dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts());
      if (!b) return nullptr;
      if (b->getOpcode() == (waits ? BO_LAnd : BO_LOr)) {
        const Expr* first = self(self, b->getLHS());
        return first ? first : self(self, b->getRHS());
      }
      const SizeComparison c = sizeCompared(b);
      if (!c.list || (c.list != list && !filledOnce(block, c.list))) return nullptr;
      return (waits ? c.how == BO_LT || c.how == BO_NE : c.how == BO_EQ || c.how == BO_GE) ? c.size : nullptr;
    };
    if (const Expr* size = enough(enough, i->getCond())) return size;
  }
  return nullptr;
}

// The same, of the loop that fills the list.
const Expr* Model::sizeThatSteps(const VarDecl* list) const {
  for (const Expr* use : definitions.uses(list)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code.parent(p);
    if (const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p); !call || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) continue;
    while (p && (isa<Expr>(p) || isa<CompoundStmt>(p))) p = code.parent(p);
    if (const Expr* size = p ? sizeThatSteps(p, list) : nullptr) return size;
  }
  return nullptr;
}

bool Model::collectsRows(const Stmt* loop) const {
  // Losses that are printed ten at a time are collected, too: a list of rows is full at the size of a batch.
  const auto isBatchSize = [&](const Expr* size) {
    bool yes = false;
    forEachExpr(size, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      yes = yes || batchSize.places().count(e) || (d && batchSize.scaled().count(d));
    });
    return yes;
  };
  bool yes = false;
  for (const HandLoop& h : batches.handLoops())
    if (!yes && (h.loop == loop || batches.inBody(h.loop, loop)))
      forEachExpr(h.loop, [&](const Expr* e) {
        const auto* call = dyn_cast<CXXMemberCallExpr>(e);
        if (yes || !call || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) return;
        const auto* list = objectOf(call) ? dyn_cast_or_null<VarDecl>(declOf(objectOf(call))) : nullptr;
        const Expr* size = list ? sizeThatSteps(h.loop, list) : nullptr;
        yes = size && isBatchSize(size);
      });
  return yes;
}

// A position that an object keeps: counted on in the loop, from where the call before left it. Not where the function itself begins at some place each time.
bool Model::goesOnFrom(const ValueDecl* field, const Stmt* loop) const {
  if (!isa<FieldDecl>(field) || !field->getType()->isIntegerType()) return false;
  const FunctionDecl* function = code.functionOf(loop);
  bool counted = false, begins = false;
  for (const Expr* use : definitions.uses(field)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ParenExpr>(p)) p = code.parent(p);
    const auto* u = dyn_cast_or_null<UnaryOperator>(p);
    const auto* b = dyn_cast_or_null<BinaryOperator>(p);
    counted = counted || (u && u->isIncrementOp() && isWithin(code, u, loop)) || (isa_and_nonnull<CompoundAssignOperator>(p) && strip(b->getLHS()) == use && isWithin(code, b, loop));
    if (!b || b->getOpcode() != BO_Assign || strip(b->getLHS()) != use || code.functionOf(b) != function || isWithin(code, b, loop)) continue;
    bool always = true;  // if (at == n) at = 0: begins anew now and then
    for (const Stmt* s = b; s && always; s = code.parent(s)) always = !isa<IfStmt, ConditionalOperator>(s);
    begins = begins || always;
  }
  return counted && !begins;
}

}  // namespace hvdize
