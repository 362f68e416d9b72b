// SPDX-License-Identifier: Apache-2.0
// Lists that a loop fills until they are as long as a batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

// The list that is asked for its size in `rows.size() < n`, `n > rows.size()` or `rows.size() != n`, and n; nulls: none is.
static std::pair<const ValueDecl*, const Expr*> sizeWanted(const BinaryOperator* b) {
  const auto listOf = [](const Expr* counted) -> const ValueDecl* {
    counted = strip(counted);
    while (const auto* cast = dyn_cast_or_null<ExplicitCastExpr>(counted)) counted = strip(cast->getSubExpr());
    return calleeName(counted) == "size" && objectOf(counted) ? declOf(objectOf(counted)) : nullptr;
  };
  if (b->getOpcode() == BO_LT || b->getOpcode() == BO_NE)
    if (const ValueDecl* list = listOf(b->getLHS())) return {list, b->getRHS()};
  if (b->getOpcode() == BO_GT || b->getOpcode() == BO_NE)
    if (const ValueDecl* list = listOf(b->getRHS())) return {list, b->getLHS()};
  return {};
}

// n where the loop goes on while the list, or one that is filled beside it, is shorter than n, whatever else ends it; null otherwise.
const Expr* Model::sizeReached(const Stmt* loop, const VarDecl* list) const {
  const Expr* condition = nullptr;
  const Stmt* body = nullptr;
  if (const auto* w = dyn_cast<WhileStmt>(loop)) condition = w->getCond(), body = w->getBody();
  if (const auto* f = dyn_cast<ForStmt>(loop)) condition = f->getCond(), body = f->getBody();
  if (!condition || !body) return nullptr;
  // Filled beside it: one push in the same block.
  const auto filledHere = [&](const ValueDecl* other) {
    unsigned here = 0;
    const auto* block = dyn_cast<CompoundStmt>(body);
    if (!block) return false;
    for (const Stmt* s : block->body())
      if (const auto* e = dyn_cast_or_null<Expr>(s))
        if (const auto* call = dyn_cast<CXXMemberCallExpr>(strip(e)); call && objectOf(call) && declOf(objectOf(call)) == other && (calleeName(call) == "push_back" || calleeName(call) == "emplace_back")) ++here;
    return here == 1;
  };
  const auto reached = [&](auto&& self, const Expr* e) -> const Expr* {
    const auto* b = dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts());
    if (!b) return nullptr;
    if (b->getOpcode() == BO_LAnd) {
      const Expr* first = self(self, b->getLHS());
      return first ? first : self(self, b->getRHS());
    }
    const auto [counted, size] = sizeWanted(b);
    return counted && (counted == list || (filledHere(counted) && filledHere(list))) ? size : nullptr;
  };
  return reached(reached, condition);
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
