// SPDX-License-Identifier: Apache-2.0
// Objects of one class that hold the samples of a batch here and what all ranks have alike there: a held-out set beside the batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Does a field of the class, or of a class inside it, hold what depends on samples?
bool Kinds::hasSampleFields(QualType t, unsigned depth) const {
  t = t.getNonReferenceType();
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  r = r ? r->getDefinition() : nullptr;
  if (!r || depth > 4 || !code_.files().contains(r->getLocation()) || dialect_.is(r, Role::Module)) return false;
  return llvm::any_of(r->fields(), [&](const FieldDecl* f) { return decls_.lookup(f).dependsOnSamples() || hasSampleFields(f->getType(), depth + 1); });
}

// Is what is done with the variable here no change of what it holds, or one to what all ranks have alike?
bool Kinds::keepsAlike(const Expr* use) {
  const Stmt* below = use;
  for (const Stmt* p = code_.parent(use); p; below = p, p = code_.parent(p)) {
    if (isa<ParenExpr, MaterializeTemporaryExpr, ExprWithCleanups, CXXBindTemporaryExpr>(p)) continue;
    if (const auto* c = dyn_cast<ImplicitCastExpr>(p)) {
      if (c->getCastKind() == CK_LValueToRValue || c->getType().isConstQualified()) return true;
      continue;
    }
    if (const auto* m = dyn_cast<MemberExpr>(p)) {
      const auto* method = dyn_cast<CXXMethodDecl>(m->getMemberDecl());
      if (method) return method->isConst() && !(method->getDeclName().isIdentifier() && method->getName().ends_with("_"));
      continue;
    }
    if (const auto* b = dyn_cast<BinaryOperator>(p)) return !b->isAssignmentOp() || b->getLHS() != below || (b->getOpcode() == BO_Assign && eval(b->getRHS()).isUniform());
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p)) {
      if (o->getOperator() == OO_Equal && o->getArg(0) == below) return formsAlike(o->getArg(1));
      if (o->isAssignmentOp() && o->getArg(0) == below) return false;
    }
    const auto* call = dyn_cast<Expr>(p);
    if (!call || !calleeOf(call)) return isa<DeclStmt>(p) ? false : !isa<Expr>(p);
    // A function of the framework takes a reference to whatever it gets, and changes it where its name says so.
    if (const FunctionDecl* f = calleeOf(call); dialect_.owns(f) && !isa<CXXConstructorDecl>(f) && f->getDeclName().isIdentifier() && !dialect_.is(call, Role::Load))
      return !f->getName().ends_with("_") && !f->getName().ends_with("_out");
    const auto arguments = argumentsOf(call);
    // net(x): the framework hands a reference on to forward.
    if (dialect_.is(call, Role::Forward) && isa<CXXOperatorCallExpr>(call)) {
      const auto changes = [](const ParmVarDecl* q) { return q->getType()->isLValueReferenceType() && !q->getType()->getPointeeType().isConstQualified(); };
      return llvm::none_of(code_.targets(call), [&](const FunctionDecl* f) { return llvm::any_of(f->parameters(), changes); });
    }
    for (unsigned i = 0; i < arguments.size(); ++i) {
      if (arguments[i] != below && strip(arguments[i]) != use) continue;
      const ParmVarDecl* q = parameterOf(call, i);
      if (!q) return false;
      return (!q->getType()->isLValueReferenceType() || q->getType()->getPointeeType().isConstQualified()) ? !q->getType()->isPointerType() : fillsAlike(call);
    }
    return false;
  }
  return false;
}

// Is the value made from what all ranks have alike, by a list of members, a constructor, a copy, or a function of the author's?
bool Kinds::formsAlike(const Expr* value) {
  const Expr* e = strip(value);
  const auto alike = [&](const Expr* a) { return hasSampleFields(a->getType()) ? holdsAlike(a) : eval(a).isUniform(); };
  if (isa<DeclRefExpr, MemberExpr>(e)) return hasSampleFields(e->getType()) ? holdsAlike(e) : eval(e).isUniform();
  if (const auto* list = dyn_cast<InitListExpr>(e)) return llvm::all_of(list->inits(), alike);
  if (!calleeOf(e)) return eval(e).isUniform();
  if (!isa<CXXConstructExpr>(e) && !code_.targets(e).empty()) return callsAlike(e);
  if (!llvm::all_of(argumentsOf(e), alike)) return false;
  if (isa<CXXConstructExpr>(e)) return batches_.inStep(e) == 0 || llvm::none_of(code_.targets(e), [&](const FunctionDecl* f) { return cutsBatch(f, 0); });
  const Expr* object = objectOf(e);
  return !(object && hasSampleFields(object->getType()) && !holdsAlike(object)) && eval(e).isUniform();
}

// Batch(const std::vector<Record>& records) { x = stack(rows); }: does the function, or one that it calls, cut a batch?
bool Kinds::cutsBatch(const FunctionDecl* f, unsigned depth) const {
  const Function* known = depth < 5 ? code_.find(f) : nullptr;
  bool cuts = false;
  if (known)
    forEachExpr(known->body, [&](const Expr* x) {
      cuts = cuts || batches_.shards().count(x) || (calleeOf(x) && llvm::any_of(code_.targets(x), [&](const FunctionDecl* inner) { return cutsBatch(inner, depth + 1); }));
    });
  return cuts;
}

// Does a function of the author's get what all ranks have alike here, and know nothing else of samples?
bool Kinds::callsAlike(const Expr* call) {
  const auto alike = [&](const Expr* a) { return hasSampleFields(a->getType()) ? holdsAlike(a) : eval(a).isUniform(); };
  const Expr* object = objectOf(call);
  if (!llvm::all_of(argumentsOf(call), alike) || (object && hasSampleFields(object->getType()) && !holdsAlike(object))) return false;
  // A function that cuts the batches of steps, called outside of any: what it cuts there, it leaves whole.
  const auto targets = code_.targets(call);
  const auto cutsInSteps = [&](const FunctionDecl* f) { return code_.find(f) && batches_.inStep(code_.find(f)->body) == 1; };
  if (batches_.inStep(call) == 0 && llvm::all_of(targets, cutsInSteps)) return true;
  llvm::DenseSet<const FunctionDecl*> seen;
  return llvm::all_of(targets, [&](const FunctionDecl* f) { return onlyFromArguments(f, seen); });
}

// `collate(held, batch);`, outside of steps: a function writes into an object, what all ranks have alike.
bool Kinds::fillsAlike(const Expr* call) { return batches_.inStep(call) == 0 && !code_.targets(call).empty() && callsAlike(call); }

bool Kinds::holdsAlike(const Expr* spelled) {
  const Expr* e = strip(spelled);
  if (!e || isa<CXXThisExpr>(e)) return false;
  if (const auto* m = dyn_cast<MemberExpr>(e); m && !isa<CXXThisExpr>(strip(m->getBase()))) return !m->isArrow() && holdsAlike(m->getBase());
  if (isa<CallExpr, CXXConstructExpr, InitListExpr>(e) && !isa<CXXOperatorCallExpr>(e)) return formsAlike(e);
  const ValueDecl* d = declOf(e);
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!d || isa<ParmVarDecl, BindingDecl, FunctionDecl>(d) || (v && v->isCXXForRangeDecl()) || d->getType()->isReferenceType() || d->getType()->isPointerType()) return false;
  if (!v && !isa<FieldDecl>(d)) return false;
  if (!open_.insert(e).second) return true;  // made from itself: the other definitions decide
  const auto definitions = definitions_.of(d);
  // What comes through a reference comes by a use.
  bool alike = llvm::all_of(definitions, [&](const Definition& def) { return def.through || (def.value && !def.compound && formsAlike(def.value)); });
  alike = alike && (!definitions.empty() || v) && llvm::all_of(definitions_.uses(d), [&](const Expr* use) { return keepsAlike(use); });
  open_.erase(e);
  return alike;
}

// A tensor's variable that a function fills, or that is used again: does what it holds at this place come from values that all ranks have alike, though it held samples before?
bool Kinds::isAlikeHere(const ValueDecl* d, const Expr* use) {
  const auto* v = dyn_cast<VarDecl>(d);
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || v->getType()->isReferenceType() || !isTensor(v->getType())) return false;
  const auto definitions = definitions_.of(v);
  if (batches_.inStep(use) == 0 && llvm::any_of(definitions, [](const Definition& def) { return def.through; })) return holdsAlike(use);
  if (definitions.size() < 2 || llvm::any_of(definitions, [](const Definition& def) { return !def.value || def.compound || def.through; })) return false;
  if (const auto known = alikeHere_.find(use); known != alikeHere_.end()) return known->second;
  if (!open_.insert(use).second) {
    ++cut_;
    return false;
  }
  const unsigned cut = cut_;
  bool start = false;
  const auto values = ranks_.reaching(v, use, start);
  // x = zeros({rows, 4}), filled by hand and cut where it goes on, x = x.to(device): until then it has all rows.
  const bool cutLater = llvm::any_of(definitions_.uses(v), [&](const Expr* other) { return batches_.shards().count(other); });
  const bool alike = values && !start && !values->empty() && llvm::all_of(*values, [&](const Expr* x) {
    const Value held = eval(x);
    return held.isUniform() && held.kind != Kind::None && (held.kind != Kind::Zero || cutLater);
  });
  open_.erase(use);
  // A chain of values that are made from each other would be gone through again for each of its links.
  if (cut == cut_) alikeHere_[use] = alike;
  return alike;
}

// `optimizer.step(closure)`: the loss that the closure gives.
Value Kinds::ofClosure(const Expr* closure) {
  const LambdaExpr* l = lambdaBehind(definitions_, closure);
  const Value loss = l && l->getCallOperator() ? returns_.lookup(l->getCallOperator()->getCanonicalDecl()) : Value(Kind::Uniform);
  return loss.kind == Kind::None && settled_ ? Value(Kind::Uniform) : loss;
}

}  // namespace hvdize
