// SPDX-License-Identifier: Apache-2.0
// Items of containers that are the same ones in every step: the parameters of a model, what they were before, prototypes of classes. They are no
// batches, however many rows they have.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// The container that a reference or a moved one names.
static const Expr* namedBy(const Expr* container) {
  container = strip(container);
  const auto* call = dyn_cast_or_null<CallExpr>(container);
  const bool moved = call && calleeOf(call) && isSystemDecl(calleeOf(call)) && calleeName(call) == "move" && call->getNumArgs() == 1;
  return moved ? strip(call->getArg(0)) : container;
}

// Is this container there before the first step, or made from a model in each, and does no step put anything into it?
bool Batches::keepsItems(const Expr* container, Trace& t, unsigned depth) const {
  container = namedBy(container);
  if (!container || depth > 4) return false;
  if (isOfModel(container)) return true;
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(container) ? declOf(container) : nullptr;
  if (!d || isa<BindingDecl>(d) || isLoopElement(d)) return false;
  const bool alias = isa<ParmVarDecl>(d) || d->getType()->isReferenceType();
  for (const Definition& def : definitions_.of(d)) {
    if (def.compound && !def.through && def.value && !evaluatedIn(def.value, t)) continue;  // weights[k] += ..., before the first step
    if (def.compound || def.through || !def.value) return false;
    if (alias ? !keepsItems(def.value, t, depth + 1) : evaluatedIn(def.value, t)) return false;
  }
  if (isa<ParmVarDecl>(d) && definitions_.of(d).empty()) return false;
  return llvm::none_of(definitions_.uses(d), [&](const Expr* use) { return evaluatedIn(use, t) && mayChangeItems(use); });
}

// May this mention of a container change what is in it? v.push_back(x), v[i] = x, fill(v); what is done with the tensors in it does not count.
bool Batches::mayChangeItems(const Expr* use, unsigned depth) const {
  const Stmt* below = use;
  const Stmt* p = code_.parent(use);
  while (isa_and_nonnull<ParenExpr>(p) || (isa_and_nonnull<ImplicitCastExpr>(p) && !cast<ImplicitCastExpr>(p)->getType().isConstQualified())) below = p, p = code_.parent(p);
  if (isa_and_nonnull<ImplicitCastExpr>(p)) return false;  // taken as one that is not changed
  if (const auto* range = dyn_cast_or_null<DeclStmt>(p); range && range->isSingleDecl()) {
    const auto* v = dyn_cast<VarDecl>(range->getSingleDecl());
    const auto* loop = v && v->isImplicit() ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(range)) : nullptr;
    if (loop) return assignsItems(loop, use);
    return v && v->getType()->isLValueReferenceType() && !v->getType()->getPointeeType().isConstQualified();
  }
  if (const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(p)) return assignsItems(loop, use);
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Subscript && o->getArg(0) == below) return isChangedItem(o);
  if (const auto* m = dyn_cast_or_null<MemberExpr>(p)) {
    const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(code_.parent(m));
    const auto* method = dyn_cast<CXXMethodDecl>(m->getMemberDecl());
    if (!call || !method) return true;
    if (method->isConst() || calleeName(call) == "size") return false;
    const llvm::StringRef name = calleeName(call);
    return name == "at" || name == "front" || name == "back" ? isChangedItem(call) : true;
  }
  // sgd(params, rate): what the function does with them.
  const auto* call = depth < 4 ? dyn_cast_or_null<CallExpr>(p) : nullptr;
  const auto targets = call ? code_.targets(call) : llvm::SmallVector<const FunctionDecl*, 2>();
  const auto arguments = call ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
  return targets.empty() || llvm::any_of(targets, [&](const FunctionDecl* f) {
    for (unsigned i = 0; i < arguments.size() && i < f->getNumParams(); ++i)
      if (arguments[i] == below && f->getParamDecl(i)->getType()->isReferenceType())
        return llvm::any_of(definitions_.uses(f->getParamDecl(i)), [&](const Expr* inner) { return mayChangeItems(inner, depth + 1); });
    return true;
  });
}

// `for (auto& p : params) p -= rate * p.grad();` changes tensors where they lie; `p = other` puts others into the container.
bool Batches::assignsItems(const CXXForRangeStmt* loop, const Expr* use) const {
  const VarDecl* v = loop->getLoopVariable();
  if (!dialect_.is(v->getType().getNonReferenceType(), Role::Tensor)) return changes(use);
  return v->getType()->isLValueReferenceType() && llvm::any_of(definitions_.of(v), [&](const Definition& def) { return !def.compound && def.value != v->getInit(); });
}

// v[i] = x, or v[i] handed to what may name another tensor there.
bool Batches::isChangedItem(const Expr* item) const {
  const Stmt* below = item;
  const Stmt* p = code_.parent(item);
  while (isa_and_nonnull<ParenExpr>(p)) below = p, p = code_.parent(p);
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p)) {
    const OverloadedOperatorKind k = o->getOperator();
    if ((k == OO_Equal || k == OO_PlusEqual || k == OO_MinusEqual || k == OO_StarEqual || k == OO_SlashEqual) && o->getArg(0) == below) return true;
    return false;  // its operand otherwise
  }
  // An item that is copied, or whose method is called, stays what it is; by reference it may be given another value.
  const auto* ds = dyn_cast_or_null<DeclStmt>(p);
  const auto* v = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
  if (v) return v->getType()->isLValueReferenceType() && !v->getType()->getPointeeType().isConstQualified() && definitions_.of(v).size() > 1;
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  return call && calleeOf(call) && !isSystemDecl(calleeOf(call)) && !dialect_.lookup(calleeOf(call));
}

// Does this index take the same values in every step: a number, or the variable of a loop in the step that begins anew each time?
bool Batches::countsAnew(const Expr* index, Trace& t, unsigned depth) const {
  index = strip(index);
  if (!index || depth > 6) return false;
  const ValueDecl* d = isa<DeclRefExpr>(index) ? declOf(index) : nullptr;
  if (const auto* v = dyn_cast_or_null<VarDecl>(d); v && !isa<ParmVarDecl>(v)) {
    const DeclStmt* ds = code_.declStmt(v);
    const auto* loop = ds ? dyn_cast_or_null<ForStmt>(code_.parent(ds)) : nullptr;
    if (loop && isInnerLoop(loop, t)) {
      return llvm::all_of(definitions_.of(v), [&](const Definition& def) {
        if (!def.value) return def.compound && !def.through;  // ++k
        if (def.through) return false;
        return countsAnew(def.value, t, depth + 1);
      });
    }
    // The items of a model's list, or of one that stays as it is, and their names.
    const auto* item = dyn_cast_or_null<VarDecl>(loopElementOf(v));
    const DeclStmt* made = item ? code_.declStmt(item) : ds;
    const auto* range = made ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(made)) : nullptr;
    if (range && isInnerLoop(range, t)) return keepsItems(range->getRangeInit(), t, depth + 1);
  }
  if (d || isa<IntegerLiteral, StringLiteral, CXXBoolLiteralExpr>(index)) {
    llvm::DenseSet<const void*> seen;
    return !varies(index, t, seen);
  }
  if (const auto* b = dyn_cast<BinaryOperator>(index)) return !b->isAssignmentOp() && countsAnew(b->getLHS(), t, depth + 1) && countsAnew(b->getRHS(), t, depth + 1);
  if (const auto* c = dyn_cast<ExplicitCastExpr>(index)) return countsAnew(c->getSubExpr(), t, depth + 1);
  if (const auto* k = dyn_cast<CXXConstructExpr>(index); k && isStdRecord(k->getType()) && argumentsOf(k).size() == 1) return countsAnew(argumentsOf(k)[0], t, depth + 1);  // a text
  // p.key(), of an item of the model's named parameters
  const auto* call = dyn_cast<CXXMemberCallExpr>(index);
  const Expr* object = call && argumentsOf(call).empty() && calleeOf(call) && cast<CXXMethodDecl>(calleeOf(call))->isConst() ? objectOf(call) : nullptr;
  return object && dialect_.owns(calleeOf(call)) && isa<DeclRefExpr>(strip(object)) && countsAnew(object, t, depth + 1);
}

// Does the loop lie in what the innermost loop around the backward pass does in each round?
bool Batches::isInnerLoop(const Stmt* loop, Trace& t) const {
  if (t.loops.empty() || llvm::is_contained(t.loops, loop)) return false;
  if (inBody(loop, t.loops.front())) return true;
  llvm::DenseSet<const FunctionDecl*> called;
  reach(loopBody(t.loops.front()), called);
  const FunctionDecl* f = code_.functionOf(loop);
  return f && called.count(f->getCanonicalDecl()) && !called.count(code_.functionOf(t.loops.front())->getCanonicalDecl());
}

// anchors[k], parameters.front(): an item that is the same one in every step.
bool Batches::isSameInEveryStep(const Expr* item, Trace& t) const {
  const Expr* object = objectOf(item);
  if (!object || !keepsItems(object, t)) return false;
  if (isOfModel(namedBy(object))) return true;
  if (t.items) return false;
  return llvm::all_of(argumentsOf(item), [&](const Expr* a) { return countsAnew(a, t); });
}

// `for (auto& prototype : prototypes)` in a step: it goes through the same items in every one.
bool Batches::isOfSameItems(const ValueDecl* element, Trace& t) const {
  const auto* v = dyn_cast_or_null<VarDecl>(loopElementOf(element));
  const auto* loop = v && !t.items && v->isCXXForRangeDecl() && code_.declStmt(v) ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(code_.declStmt(v))) : nullptr;
  return loop && isInnerLoop(loop, t) && keepsItems(loop->getRangeInit(), t);
}

// `for (auto& rows : sets) for (i ...) rows.slice(0, i, i + n)`: what the outer loop goes through is all data of a kind, and no batch.
bool Batches::isSliceOfOuterItem(const Expr* taken, Trace& t) const {
  const Expr* object = calleeOf(taken) && objectOf(taken) ? strip(objectOf(taken)) : nullptr;
  const ValueDecl* element = object && isa<DeclRefExpr>(object) && declOf(object) ? loopElementOf(declOf(object)) : nullptr;
  const auto* v = dyn_cast_or_null<VarDecl>(element);
  const auto* loop = v && v->isCXXForRangeDecl() && code_.declStmt(v) ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(code_.declStmt(v))) : nullptr;
  return loop && !t.loops.empty() && llvm::all_of(t.loops, [&](const Stmt* inner) { return inner != loop && inBody(inner, loop); });
}

}  // namespace hvdize
