// SPDX-License-Identifier: Apache-2.0
// States that steps hand on: `h` of `tie(out, h) = lstm(x, h)`. In front of the first step they have the rows of the whole batch (zeros({1, batch,
// width})), and from then on this rank's. Where a step may meet the former, they are cut.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// A tensor, or a tuple or pair of tensors: the two states of an LSTM.
bool Kinds::holdsState(QualType t) const {
  t = t.getNonReferenceType();
  if (isTensor(t)) return true;
  const auto* c = dyn_cast_or_null<ClassTemplateSpecializationDecl>(t->getAsCXXRecordDecl());
  if (!c || !c->isInStdNamespace() || (c->getName() != "tuple" && c->getName() != "pair")) return false;
  bool all = true, any = false;
  const auto look = [&](const TemplateArgument& a) {
    any = true;
    all = all && a.getKind() == TemplateArgument::Type && holdsState(a.getAsType());
  };
  for (const TemplateArgument& a : c->getTemplateArgs().asArray())
    if (a.getKind() == TemplateArgument::Pack) llvm::for_each(a.pack_elements(), look);
    else look(a);
  return any && all;
}

// May a step begin with what was there before the first one: are all values of the variable that stand outside of any step rows of all ranks alike?
bool Kinds::beginsWhole(const ValueDecl* d) {
  return llvm::all_of(definitions_.of(d), [&](const Definition& def) {
    if (!def.value || def.compound || def.through) return false;
    return batches_.inStep(def.value) > 0 || of(def.value).isUniform() || of(def.value).dependsOnSamples();
  });
}

// What the step itself has put into the variable before this place, in the same function and on every way to it; null where that is not certain.
const Expr* Kinds::assignedInStep(const ValueDecl* d, const Expr* use) const {
  const Stmt* child = use;
  for (const Stmt* p = code_.parent(use); p && !isLoop(p); child = p, p = code_.parent(p)) {
    const auto* block = dyn_cast<CompoundStmt>(p);
    if (!block) continue;
    const Expr* found = nullptr;
    for (const Stmt* s : block->body()) {
      if (s == child) break;
      const Expr* e = isa<Expr>(s) ? strip(cast<Expr>(s)) : nullptr;
      const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(e);
      if (!o || o->getOperator() != OO_Equal || o->getNumArgs() != 2) continue;
      const auto tied = tiedBy(e);
      if (declOf(strip(o->getArg(0))) == d || llvm::any_of(tied, [&](const Expr* x) { return declOf(x) == d; })) found = e;
    }
    if (found) return found;
  }
  return nullptr;
}

// Is this mention what an assignment gives a value: `h = ...`, `tie(out, h) = ...`?
bool Kinds::isTarget(const Expr* mention) const {
  for (const Stmt* p = code_.parent(mention); p && isa<Expr>(p); p = code_.parent(p)) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(p);
    if (!o || o->getOperator() != OO_Equal) continue;
    if (strip(o->getArg(0)) == mention) return true;
    const auto tied = tiedBy(o);
    return llvm::is_contained(tied, mention);
  }
  return false;
}

// Reads of a state in a step that may still have the rows of all ranks.
void Kinds::noteState(const ValueDecl* d, const Expr* mention, const Value& v) {
  if (!recording_ || !states_.count(d) || batches_.inStep(mention) == 0 || isTarget(mention)) return;
  if (const Expr* before = assignedInStep(d, mention)) {
    const Value given = of(before);
    if (given.dependsOnSamples() && !given.earlier) return;  // this batch's already
  }
  carriedStates_[mention] = v.kind == Kind::Second ? 1 : 0;
}

}  // namespace hvdize
