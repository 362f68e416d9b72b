// SPDX-License-Identifier: Apache-2.0
// Sizes that a program computes with where it makes a loader or a trainer: scaled there alone, its counts of steps would be those of one rank's batches.
// Numbers that it makes from sizes, and lists that it puts them into.
#include "rewriters/program/evaluate.h"
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

// In `batch / 2` or `2 * batch` the number that it is made from, if that is a variable which says elsewhere how many steps there are: `rows / batch`,
// `seen += batch`. Scaled here alone, the steps would be those of one rank's batches. `only`: it says nothing else.
const Expr* Quantity::madeFromSize(const Expr* e, bool& only) const {
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (!b || !b->isMultiplicativeOp() || b->getOpcode() == BO_Rem || !b->getType()->isIntegerType()) return nullptr;
  const AuthorCode& code = definitions_.code();
  const auto isVariable = [](const Expr* x) { return isa<DeclRefExpr, MemberExpr>(strip(x)) && isa_and_nonnull<VarDecl, FieldDecl>(declOf(strip(x))) && !isSystemDecl(declOf(strip(x))); };
  for (const Expr* side : {b->getLHS(), b->getRHS()}) {
    if (!isVariable(side) || (b->getOpcode() == BO_Div && side == b->getRHS())) continue;
    // rows = x.size(0): how many there are is no size that somebody has chosen.
    bool counts = false, chosen = true;
    for (const Definition& def : definitions_.of(declOf(strip(side))))
      if (def.value) forEachExpr(def.value, [&](const Expr* x) { chosen = chosen && !calleeName(x).starts_with("size") && calleeName(x) != "numel"; });
    if (!chosen) continue;
    only = b->getOpcode() == BO_Div || !isVariable(side == b->getLHS() ? b->getRHS() : b->getLHS());
    for (const Expr* use : definitions_.uses(declOf(strip(side)))) {
      const Stmt *below = use, *p = code.parent(use);
      while (isa_and_nonnull<ParenExpr, CastExpr>(p)) below = p, p = code.parent(p);
      const auto* with = dyn_cast_or_null<BinaryOperator>(p);
      if (with == b || !isRead(code, use)) continue;
      const bool right = with && with->getRHS() == below && with->getType()->isIntegerType();
      if (right && (with->getOpcode() == BO_Div || with->getOpcode() == BO_AddAssign)) counts = true;
      else if (with && with->getOpcode() == BO_Rem) only = false;  // at % rows: rows may be all there are
      else if (!with || !with->getType()->isIntegerType() || !(with->isAdditiveOp() || with->isMultiplicativeOp())) only = false;
    }
    if (counts) return side;
  }
  return nullptr;
}

// `left -= rows;`
bool Quantity::shrinks(const ValueDecl* d) const {
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    const Stmt* p = definitions_.code().parent(use);
    while (isa_and_nonnull<ParenExpr>(p)) p = definitions_.code().parent(p);
    const auto* b = dyn_cast_or_null<CompoundAssignOperator>(p);
    return b && b->getOpcode() == BO_SubAssign && strip(b->getLHS()) == strip(use);
  });
}

// Is the variable counted up from zero, `got = 0; while (got < batch) ++got;`? It is no size that somebody has chosen.
bool Quantity::countsUp(const ValueDecl* d) const {
  const auto given = definitions_.of(d);
  if (llvm::any_of(given, [](const Definition& def) { return def.value && !def.compound && !isLiteralZero(def.value); })) return false;
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    const Stmt* p = definitions_.code().parent(use);
    while (isa_and_nonnull<ParenExpr>(p)) p = definitions_.code().parent(p);
    const auto* u = dyn_cast_or_null<UnaryOperator>(p);
    return u && u->isIncrementOp();
  });
}

// A number that follows from what was read or counted: such a variable, the distance of two iterators or pointers, what a function of the program
// returns that counts so.
bool Quantity::isCounted(const Expr* spelled, unsigned depth) const {
  const Expr* e = strip(spelled);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  if (depth > 4) return false;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->getOpcode() == BO_Sub && b->getLHS()->getType()->isPointerType();
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->getOperator() == OO_Minus && o->getNumArgs() == 2 && isIterator(o->getArg(0)->getType()) && isIterator(o->getArg(1)->getType());
  if (isa<CallExpr>(e) && calleeOf(e)) {
    if (isSystemDecl(calleeOf(e)) && calleeName(e) == "distance") return true;
    const auto targets = definitions_.code().targets(e);
    return llvm::any_of(targets, [&](const FunctionDecl* f) { return llvm::any_of(definitions_.returns(f), [&](const Expr* r) { return isCounted(r, depth + 1); }); });
  }
  const auto* v = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
  if (!v || !isa<VarDecl, FieldDecl>(v) || !v->getType().getNonReferenceType()->isIntegerType()) return false;
  if (countsUp(v)) return true;
  const auto* local = dyn_cast<VarDecl>(v);
  const auto given = definitions_.of(v);
  return local && local->isLocalVarDecl() && given.size() == 1 && given[0].value && !given[0].compound && isCounted(given[0].value, depth + 1);
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

// `micro = batch / 2`, found before `batch` was: it follows from what is scaled.
void Quantity::settleParts() {
  const llvm::SetVector<const Expr*> found = places_;
  std::vector<const Expr*> follow;
  for (const Expr* p : found) {
    if (isa<DeclRefExpr, MemberExpr, IntegerLiteral>(strip(p))) continue;
    places_.remove(p);
    if (degree(p) == 1) follow.push_back(p);
    places_.insert(p);
  }
  places_ = found;  // in their order
  for (const Expr* p : follow) places_.remove(p);
  for (const Expr* p : follow) traceBounds(p, labels_.lookup(p));
}

// A number that is written in the program, itself or in a variable of its own.
bool Quantity::isNumber(const Expr* e) const {
  if (isa<IntegerLiteral>(strip(e))) return !isLiteralZero(e);
  const auto* v = isa<DeclRefExpr>(strip(e)) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  const auto given = v && !isa<ParmVarDecl>(v) ? definitions_.of(v) : llvm::ArrayRef<Definition>();
  return !given.empty() && llvm::all_of(given, [](const Definition& def) { return def.value && !def.compound && isa<IntegerLiteral>(strip(def.value)); });
}

// The numbers in what is made from a scaled size: `std::min(2 * batch, 64)`, `batch + 8`.
void Quantity::traceBounds(const Expr* e, const std::string& label) {
  e = strip(e);
  llvm::SmallVector<const Expr*, 4> alike;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    if (b->isAdditiveOp()) alike = {b->getLHS(), b->getRHS()};
    else if (b->isMultiplicativeOp()) traceBounds(degree(b->getLHS()) != 0 ? b->getLHS() : b->getRHS(), label);
  } else if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    alike = {c->getTrueExpr(), c->getFalseExpr()};
  } else if (const FunctionDecl* f = isa<CallExpr>(e) ? calleeOf(e) : nullptr; f && isSystemDecl(f)) {
    const llvm::StringRef name = calleeName(e);
    if (name == "min" || name == "max" || name == "clamp") alike = argumentsOf(e);
  }
  for (const Expr* o : alike)
    if (degree(o) != 0) traceBounds(o, label);
    else if (isNumber(o)) trace(o, label);
}

llvm::SmallVector<const Expr*, 4> Quantity::putInto(const ValueDecl* d) const {
  llvm::SmallVector<const Expr*, 4> out;
  if (!isStdRecord(d->getType().getNonReferenceType())) return out;
  const AuthorCode& code = definitions_.code();
  for (const Expr* use : definitions_.uses(d)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code.parent(p);
    if (const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p); call && strip(objectOf(call)) == strip(use)) {
      const llvm::StringRef name = calleeName(call);
      if (name == "push_back" || name == "emplace_back" || name == "push_front" || name == "push" || name.starts_with("insert") ||
          name == "emplace" || name == "try_emplace") out.append(argumentsOf(call));
    }
    // transform(groups.begin(), groups.end(), back_inserter(list), [](auto& g) { return g.lr(); }): what the function gives.
    const auto* inserter = dyn_cast_or_null<CallExpr>(p);
    const Stmt* algorithm = inserter && calleeName(inserter).ends_with("inserter") ? code.parent(inserter) : nullptr;
    while (isa_and_nonnull<ImplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, CXXConstructExpr>(algorithm)) algorithm = code.parent(algorithm);
    if (const auto* call = dyn_cast_or_null<CallExpr>(algorithm))
      for (const Expr* a : argumentsOf(call)) {
        if (const auto* l = dyn_cast<LambdaExpr>(strip(a))) out.append(definitions_.returns(l->getCallOperator()).begin(), definitions_.returns(l->getCallOperator()).end());
        else if (strip(a) != inserter) out.push_back(a);
      }
    const auto* at = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    const auto* assign = at && at->getOperator() == OO_Subscript ? dyn_cast_or_null<BinaryOperator>(code.parent(at)) : nullptr;
    if (assign && assign->getOpcode() == BO_Assign && strip(assign->getLHS()) == at) out.push_back(assign->getRHS());
  }
  return out;
}

}  // namespace hvdize
