// SPDX-License-Identifier: Apache-2.0
// Other names for what lives on from step to step: references to items of a container, handles of one tensor, views of it, parameters.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

/// What an operation of the framework makes a new tensor for, though it only chooses.
bool copies(llvm::StringRef name) {
  return name == "index_select" || name == "gather" || name == "take" || name == "take_along_dim" || name == "masked_select" || name == "clone" || name == "repeat";
}

/// Do two names of this type share what is changed in place?
bool isPointing(QualType t) { return t->isReferenceType() || t->isPointerType(); }

}  // namespace

// Does a change of `lhs` in place last beyond the step, under this name or another one?
bool Kinds::changesOutside(const Expr* lhs, const Expr* at) const {
  llvm::DenseSet<const void*> seen;
  return declaredOutsideStep(lhs, at) || namesOutside(rootOf(lhs), at, seen);
}

// The same for a variable or parameter: is there something from outside of the step that it names, or shares its memory with?
bool Kinds::namesOutside(const ValueDecl* d, const Expr* at, llvm::DenseSet<const void*>& seen) const {
  if (const auto* b = dyn_cast_or_null<BindingDecl>(d)) d = dyn_cast<ValueDecl>(b->getDecomposedDecl());
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v || batches_.inStep(at) == 0 || !seen.insert(v).second) return false;
  const DeclStmt* ds = code_.declStmt(v);
  // for (auto& [name, mean] : means): `mean` is a part of what the loop declares.
  if (const auto* whole = ds && ds->isSingleDecl() ? dyn_cast<DecompositionDecl>(ds->getSingleDecl()) : nullptr; whole && whole != v) return namesOutside(whole, at, seen);
  if (const auto* p = dyn_cast<ParmVarDecl>(v)) {
    const auto* f = dyn_cast<FunctionDecl>(p->getDeclContext());
    if (!f || !(isTensor(p->getType()) || isPointing(p->getType()))) return false;
    const auto& callers = code_.callers(f);
    if (p->getType()->isLValueReferenceType() && p->getType()->getPointeeType().isConstQualified() && !isTensor(p->getType())) return false;
    // A lambda that the library calls, for each item of some container.
    const Function* known = code_.find(f);
    if (callers.empty()) return known && known->lambda && isPointing(p->getType());
    return llvm::any_of(callers, [&](const CallSite& c) {
      const auto* call = dyn_cast<Expr>(c.call);
      if (!call || batches_.inStep(call) == 0) return false;
      const auto arguments = argumentsOf(call);
      const unsigned i = p->getFunctionScopeIndex();
      return i < arguments.size() && givesOutside(arguments[i], call, seen);
    });
  }
  const auto* range = dyn_cast_or_null<CXXForRangeStmt>(ds ? code_.parent(ds) : nullptr);
  if (range && range->getLoopVariable() == v) {
    const bool shares = isTensor(v->getType()) || isPointing(v->getType());
    return shares && !batches_.isStepLoop(range) && givesOutside(range->getRangeInit(), at, seen);
  }
  return llvm::any_of(definitions_.of(v), [&](const Definition& def) { return def.value && !def.compound && givesOutside(def.value, at, seen); });
}

// Does the expression give something from outside of the step itself, or a part or a view of it?
bool Kinds::givesOutside(const Expr* e, const Expr* at, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e) return false;
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return (u->getOpcode() == UO_AddrOf || u->getOpcode() == UO_Deref) && givesOutside(u->getSubExpr(), at, seen);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return givesOutside(c->getTrueExpr(), at, seen) || givesOutside(c->getFalseExpr(), at, seen);
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return givesOutside(a->getBase(), at, seen);
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) return givesOutside(list->getSubExpr(), at, seen);
  if (const auto* list = dyn_cast<InitListExpr>(e)) return llvm::any_of(list->inits(), [&](const Expr* x) { return givesOutside(x, at, seen); });
  if (isa<DeclRefExpr, MemberExpr>(e)) return declaredOutsideStep(e, at) || namesOutside(rootOf(e), at, seen);
  const FunctionDecl* f = calleeOf(e);
  if (!f || isa<CXXConstructExpr>(e)) {
    const auto* k = dyn_cast<CXXConstructExpr>(e);
    const bool handle = k && (isTensor(k->getType()) || isStdRecord(k->getType())) && argumentsOf(k).size() == 1;
    return handle && givesOutside(argumentsOf(k)[0], at, seen);
  }
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  if (const Entry* entry = dialect_.lookup(f)) {
    const Expr* of = object ? object : arguments.empty() ? nullptr : arguments[0];
    if (!of || !isTensor(of->getType()) || copies(calleeName(e))) return false;
    const bool view = entry->role == Role::Access || (entry->role == Role::Op && (entry->op == OpKind::Select || entry->op == OpKind::Reshape || entry->op == OpKind::Assign)) ||
                      calleeName(e) == "detach" || calleeName(e) == "contiguous" || calleeName(e) == "to" || calleeName(e) == "alias" || calleeName(e).ends_with("_");
    return view && givesOutside(of, at, seen);
  }
  // What a container gives: v[i], v.at(i), m.find(key), *it, it->second; get<0>(pair), move(x).
  if (isSystemDecl(f)) return object ? givesOutside(object, at, seen) : !arguments.empty() && f->getReturnType()->isReferenceType() && givesOutside(arguments[0], at, seen);
  return llvm::any_of(code_.targets(e), [&](const FunctionDecl* target) {
    return (isTensor(target->getReturnType()) || isPointing(target->getReturnType())) &&
           llvm::any_of(definitions_.returns(target), [&](const Expr* r) { return isa<MemberExpr, DeclRefExpr>(strip(r)) && givesOutside(r, r, seen); });
  });
}

// Does `=` give this another tensor where it lives, rather than a new one to a name of the step's own?
bool Kinds::assignsThrough(const Expr* lhs) const {
  const ValueDecl* d = isa<DeclRefExpr>(strip(lhs)) ? declOf(strip(lhs)) : nullptr;
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v) return true;
  if (const DeclStmt* ds = code_.declStmt(v))
    if (const auto* whole = ds->isSingleDecl() ? dyn_cast<DecompositionDecl>(ds->getSingleDecl()) : nullptr) return whole->getType()->isReferenceType();
  return v->getType()->isReferenceType();
}

}  // namespace hvdize
