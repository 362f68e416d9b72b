// SPDX-License-Identifier: Apache-2.0
// Passes of single rows through a model, in loops over this rank's rows: `loss = loss + nll_loss(net(x[i].unsqueeze(0)), y[i].unsqueeze(0));`. A row is
// then all that the model sees, and what it makes of it belongs to that sample. Nothing may be left behind by a pass: each rank makes as many as it has rows.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The variable that an assignment changes, directly or a part of it; null for what does not begin with one.
const VarDecl* variableChanged(const Expr* target) {
  const Expr* e = strip(target);
  for (;;) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (const auto* m = dyn_cast<MemberExpr>(e)) e = strip(m->getBase());
    else if (o && o->getOperator() == OO_Subscript) e = strip(o->getArg(0));
    else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) e = strip(a->getBase());
    else break;
  }
  return isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
}

// What an expression assigns to, counts up, or changes by a method whose name says so; null for one that changes nothing of the kind.
const Expr* changedBy(const Expr* e) {
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isAssignmentOp()) return b->getLHS();
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp()) return u->getSubExpr();
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && (o->isAssignmentOp() || o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus)) return o->getArg(0);
  return isa<CXXMemberCallExpr>(e) && calleeName(e).ends_with("_") ? objectOf(e) : nullptr;
}

}  // namespace

bool Kinds::hasBatchNorm() const {
  bool found = false;
  for (const Root& r : code_.roots()) forEachExpr(r.code, [&](const Expr* e) { found = found || dialect_.is(e->getType(), Role::BatchNorm); });
  return found || llvm::any_of(code_.fields(), [&](const FieldDecl* f) { return dialect_.is(f->getType(), Role::BatchNorm); });
}

// Does the function only compute, from what it is given and what the object holds?
bool Kinds::onlyComputes(const FunctionDecl* f, llvm::DenseSet<const FunctionDecl*>& seen) const {
  if (!seen.insert(f->getCanonicalDecl()).second) return true;
  const Function* known = code_.find(f);
  if (!known) return false;
  bool good = true;
  const auto isLocal = [&](const VarDecl* v) { return v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType(); };
  forEachExpr(known->body, [&](const Expr* e) {
    if (!good) return;
    if (const Expr* target = changedBy(e)) {
      const VarDecl* v = variableChanged(target);
      const bool replaced = isa<DeclRefExpr>(strip(target)) && isa<CXXOperatorCallExpr>(e) && cast<CXXOperatorCallExpr>(e)->getOperator() == OO_Equal;  // x = relu(x)
      good = isLocal(v) || (replaced && v && isa<ParmVarDecl>(v) && !v->getType()->isReferenceType());
      return;
    }
    if (isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr>(e)) return (void)(good = false);
    const FunctionDecl* callee = calleeOf(e);
    if (!callee) return (void)(good = !isa<CallExpr>(e));
    const Entry* entry = dialect_.lookup(e);
    const auto targets = code_.targets(e);
    if (!targets.empty()) return (void)(good = llvm::all_of(targets, [&](const FunctionDecl* t) { return onlyComputes(t, seen); }));
    if (entry && entry->role == Role::Forward) return (void)(good = forwardsOnly(objectOf(e), seen));
    if (entry) {
      const bool computes = entry->role == Role::Op || entry->role == Role::Access || entry->role == Role::Loss || entry->role == Role::RandomDraw || entry->role == Role::Module;
      good = computes && entry->op != OpKind::Print;
    } else if (!isa<CXXConstructExpr>(e)) {
      good = (dialect_.owns(callee) && !callee->getReturnType()->isVoidType()) || (isSystemDecl(callee) && !mayChange(callee) && (hostRole(callee) == HostRole::Pure || hostRole(callee) == HostRole::Forward)) || calleeName(e) == "is_training";
    }
  });
  return good;
}

// Does a pass through the model only compute? Layers of the framework do, without running statistics. What a container holds, and which class derived
// from another one a pointer leads to, is not looked for: all models of the author's must.
bool Kinds::forwardsOnly(const Expr* model, llvm::DenseSet<const FunctionDecl*>& seen) const {
  const CXXRecordDecl* record = model ? dialect_.recordOf(model->getType()) : nullptr;
  if (!record) return false;
  if (dialect_.is(model->getType(), Role::LossModule)) return true;
  bool own = false, good = true;
  for (const Function& f : code_.functions()) {
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    if (!m || !m->getDeclName().isIdentifier() || m->getName() != "forward") continue;
    own = own || m->getParent()->getCanonicalDecl() == record->getCanonicalDecl();
    good = good && onlyComputes(m, seen);
  }
  return good && (own || !code_.files().contains(record->getLocation()));
}

bool Kinds::passesRow(const Expr* e, RowLoop& loop) {
  const Expr* model = objectOf(e);
  if (!model || assumesRows_ || !dialect_.ownStepDraws() || !dialect_.is(model->getType(), Role::Module) || dialect_.is(model->getType(), Role::LossModule)) return false;
  const Entry* entry = dialect_.lookup(e);
  if (calleeName(e) != "forward" && !(entry && entry->role == Role::Forward)) return false;
  if (entry && (!entry->batchFirst.empty() || !entry->carriesOption.empty())) return false;
  const Expr* named = strip(model);
  while (const auto* o = dyn_cast<CXXOperatorCallExpr>(named)) {  // net->forward(x)
    if (o->getOperator() != OO_Arrow && o->getOperator() != OO_Star) return false;
    named = strip(o->getArg(0));
  }
  if (!isa<DeclRefExpr, MemberExpr, CXXThisExpr>(named) || loop.isOwn(code_, declOf(named))) return false;
  llvm::DenseSet<const FunctionDecl*> seen;
  if (hasBatchNorm() || !forwardsOnly(model, seen)) return false;
  if (!llvm::all_of(argumentsOf(e), [&](const Expr* a) { return readsRow(a, loop); })) return false;
  loop.read.graded = true;
  return true;
}

}  // namespace hvdize
