// SPDX-License-Identifier: Apache-2.0
// Sizes that a program computes with where it makes a loader or a trainer: scaled there alone, its counts of steps would be those of one rank's batches.
#include "rewriters/program/quantities.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// `(rows + batch - 1) / batch`, `i + batch <= rows`: is it computed with, other than in `where`? Scaled there alone, the two would no longer agree.
bool Quantity::isCountedWith(const ValueDecl* d, const Expr* where) const {
  const AuthorCode& code = definitions_.code();
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    if (!isRead(code, use)) return false;
    bool counts = false;
    for (const Stmt* p = use; p && isa<Expr>(p); p = code.parent(p)) {
      if (p == where) return false;
      const auto* b = dyn_cast<BinaryOperator>(p);
      counts = counts || (b && !b->isAssignmentOp() && !b->isLogicalOp() && b->getOpcode() != BO_Comma && b->getType()->isArithmeticType());
      // ceil_div(rows, batch)
      const auto* call = dyn_cast<CallExpr>(p);
      counts = counts || (call && call->getType()->isIntegerType() && !code.targets(call).empty());
    }
    return counts;
  });
}

// A member that nothing but constructors give a value, from what their callers count with as well.
bool Quantity::comesFromCounted(const ValueDecl* field) const {
  const auto plain = [](const Definition& def) { return def.value && !def.compound && !def.through && isa<DeclRefExpr, MemberExpr>(strip(def.value)) && declOf(def.value); };
  const auto given = definitions_.of(field);
  if (given.empty() || !llvm::all_of(given, plain)) return false;
  return llvm::any_of(given, [&](const Definition& def) {
    const ValueDecl* from = declOf(def.value);
    if (isa<FieldDecl>(from)) return from != field && isCountedWith(from, def.value);
    const auto* p = dyn_cast<ParmVarDecl>(from);
    if (!p || !isa<CXXConstructorDecl>(p->getDeclContext())) return false;
    const auto callers = definitions_.of(p);
    return !callers.empty() && llvm::all_of(callers, [](const Definition& c) { return c.value && !c.compound && !c.through; }) && llvm::any_of(callers, [&](const Definition& c) {
      const ValueDecl* v = isa<DeclRefExpr, MemberExpr>(strip(c.value)) ? declOf(c.value) : nullptr;
      return v && isa<VarDecl, FieldDecl>(v) && isCountedWith(v, c.value);
    });
  });
}

// `std::min(batch, rows)`, `late ? 2 * batch : batch`: the sizes in it, where one of them is counted with elsewhere. Empty for anything else.
llvm::SmallVector<const Expr*, 2> Quantity::countedParts(const Expr* e) const {
  bool counted = false, plain = true;
  llvm::SmallVector<const Expr*, 2> sizes;
  const auto look = [&](auto&& self, const Expr* spelled) -> void {
    const Expr* x = strip(spelled);
    while (const auto* cast = dyn_cast<ExplicitCastExpr>(x)) x = strip(cast->getSubExpr());
    const FunctionDecl* f = isa<CallExpr>(x) ? calleeOf(x) : nullptr;
    const auto* product = dyn_cast<BinaryOperator>(x);
    if (const auto* c = dyn_cast<ConditionalOperator>(x)) return self(self, c->getTrueExpr()), self(self, c->getFalseExpr());
    if (f && isSystemDecl(f) && (calleeName(x) == "min" || calleeName(x) == "max") && argumentsOf(x).size() == 2) {
      for (const Expr* a : argumentsOf(x))
        if (isa<DeclRefExpr, MemberExpr>(strip(a))) self(self, a);
      return;
    }
    if (product && (product->getOpcode() == BO_Mul || product->getOpcode() == BO_Shl) && isa<DeclRefExpr, MemberExpr>(strip(product->getLHS())) && isa<IntegerLiteral>(strip(product->getRHS()))) return self(self, product->getLHS());
    if (product && product->getOpcode() == BO_Mul && isa<DeclRefExpr, MemberExpr>(strip(product->getRHS())) && isa<IntegerLiteral>(strip(product->getLHS()))) return self(self, product->getRHS());
    const auto* v = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    plain = plain && v && isa<VarDecl, FieldDecl>(v);
    counted = counted || (v && isCountedWith(v, e));
    sizes.push_back(x);
  };
  if (isa<ConditionalOperator, CallExpr, BinaryOperator>(e)) look(look, e);
  return counted && plain ? sizes : llvm::SmallVector<const Expr*, 2>();
}

}  // namespace hvdize
