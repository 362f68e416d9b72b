// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/changes.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// What the expression itself changes, by no call of the author's; null when it changes nothing.
const Expr* Changes::changedBy(const Expr* e) const {
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    const Expr* to = strip(b->getLHS());
    const bool another = b->getOpcode() == BO_Assign && isa<DeclRefExpr>(to);
    return b->isAssignmentOp() && !another ? to : nullptr;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp() ? u->getSubExpr() : nullptr;
  const FunctionDecl* f = calleeOf(e);
  const Expr* object = f ? objectOf(e) : nullptr;
  if (f && !object && dialect_.owns(f) && f->getDeclName().isIdentifier() && (f->getName().ends_with("_") || f->getName().ends_with("_out")))
    return argumentsOf(e).empty() ? nullptr : argumentsOf(e)[0];  // init::ones_(weights), mul_out(product, a, b)
  if (!object || !code_.targets(e).empty()) return nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  if (o && o->getOperator() == OO_Equal && isa<DeclRefExpr>(strip(object))) return nullptr;  // the variable gets another value
  if (o && (o->isAssignmentOp() || o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus)) return object;
  if (dialect_.owns(f)) return f->getDeclName().isIdentifier() && f->getName().size() > 1 && f->getName().ends_with("_") ? object : nullptr;
  const auto* m = dyn_cast<CXXMethodDecl>(f);
  const bool reads = o && (o->getOperator() == OO_Subscript || o->getOperator() == OO_Star || o->getOperator() == OO_Arrow);
  return m && !m->isConst() && !reads && mayChange(f) ? object : nullptr;
}

// `w = w * 0.5;`: a variable of the function itself is not looked at here, what others see is.
const ValueDecl* Changes::givenAnother(const Expr* e) const {
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const Expr* to = b && b->getOpcode() == BO_Assign ? b->getLHS() : o && o->getOperator() == OO_Equal ? o->getArg(0) : nullptr;
  const auto* v = to ? dyn_cast_or_null<VarDecl>(isa<DeclRefExpr>(strip(to)) ? declOf(strip(to)) : nullptr) : nullptr;
  if (!v) return nullptr;
  const auto* home = dyn_cast<FunctionDecl>(v->getDeclContext());
  const FunctionDecl* here = code_.functionOf(e);
  const bool own = v->hasLocalStorage() && !v->getType()->isReferenceType() && home && here && home->getCanonicalDecl() == here->getCanonicalDecl();
  return own ? nullptr : v;
}

void Changes::namesIn(const Expr* e, Names& names) const {
  llvm::DenseSet<const FunctionDecl*> seen;
  const auto look = [&](auto&& self, const Stmt* s, bool outside) -> void {
    forEachExpr(s, [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      const auto* v = dyn_cast_or_null<VarDecl>(d);
      if (d && !isa<FunctionDecl, EnumConstantDecl>(d) && (!outside || isa<FieldDecl>(d) || (v && v->hasGlobalStorage()))) names.insert(d);
      for (const FunctionDecl* f : code_.targets(x))
        if (const Function* known = code_.find(f); known && seen.insert(f->getCanonicalDecl()).second) self(self, known->body, true);
    });
  };
  look(look, e, false);
}

// `auto labels = batch.target;`: two names of one tensor.
void Changes::addAliases(const FunctionDecl* function, Names& names) const {
  const Function* known = function ? code_.find(function) : nullptr;
  if (!known) return;
  const auto isHandle = [&](const ValueDecl* v) {
    const QualType t = v->getType();
    return t->isReferenceType() || t->isPointerType() || t.getNonReferenceType()->isRecordType();
  };
  for (bool more = true; more;) {
    more = false;
    forEachExpr(known->body, [&](const Expr* x) {
      const auto* v = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
      if (!v || !isHandle(v)) return;
      for (const Definition& def : definitions_.of(v)) {
        // `sums[label] += losses[i].item<double>()`: a number that was read is no name of what it was read from.
        const bool number = def.value && def.value->getType()->isArithmeticType() && !v->getType()->isReferenceType();
        const ValueDecl* root = def.value && !number ? rootOf(def.value) : nullptr;
        if (!root || root == v || !isHandle(root)) continue;
        if (names.count(root)) more = names.insert(v).second || more;
        else if (names.count(v)) more = names.insert(root).second || more;
      }
    });
  }
}

bool Changes::changes(const Expr* e, const Names& names, unsigned depth) const {
  if (const ValueDecl* d = givenAnother(e); d && names.count(d)) return true;
  if (const Expr* to = changedBy(e)) {
    const ValueDecl* root = rootOf(to);
    return root && names.count(root);
  }
  const auto targets = code_.targets(e);
  if (targets.empty()) return false;
  if (depth > 6) return true;
  const auto given = argumentsOf(e);
  for (const FunctionDecl* f : targets) {
    const Function* known = code_.find(f);
    if (!known) continue;
    Names inside;
    for (const ValueDecl* d : names) {
      const auto* v = dyn_cast<VarDecl>(d);
      if (isa<FieldDecl>(d) || (v && v->hasGlobalStorage())) inside.insert(d);
    }
    for (unsigned i = 0; i < given.size() && i < f->getNumParams(); ++i) {
      const ValueDecl* root = rootOf(given[i]);
      if (root && names.count(root) && !f->getParamDecl(i)->getType()->isArithmeticType()) inside.insert(f->getParamDecl(i));
    }
    if (known->lambda) inside.insert(names.begin(), names.end());
    bool found = false;
    addAliases(f, inside);
    forEachExpr(known->body, [&](const Expr* x) { found = found || changes(x, inside, depth + 1); });
    if (found) return true;
  }
  return false;
}

bool Changes::changedBetween(const Expr* e, const Stmt* from, const Stmt* at) const {
  const FunctionDecl* function = code_.functionOf(at);
  const Function* known = function ? code_.find(function) : nullptr;
  if (!known || from == at) return false;
  Names names;
  namesIn(e, names);
  addAliases(function, names);
  const SourceManager& sm = code_.context().getSourceManager();
  bool changed = false;
  forEachExpr(known->body, [&](const Expr* x) {
    if (changed || !sm.isBeforeInTranslationUnit(from->getBeginLoc(), x->getBeginLoc()) || !sm.isBeforeInTranslationUnit(x->getBeginLoc(), at->getBeginLoc())) return;
    changed = changes(x, names, 0);
  });
  return changed;
}

bool Changes::changedIn(const Expr* e, const Stmt* within) const {
  Names names;
  namesIn(e, names);
  addAliases(code_.functionOf(within), names);
  bool changed = false;
  forEachExpr(within, [&](const Expr* x) { changed = changed || changes(x, names, 0); });
  return changed;
}

}  // namespace hvdize
