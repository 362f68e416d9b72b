// SPDX-License-Identifier: Apache-2.0
// Sizes that a function chooses by what it is asked to do: `training ? 8 : 16`, `int size = 16; if (net->is_training()) size = 8;`.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/training_calls.h"

using namespace clang;

namespace hvdize {

// May the call come to the function?
static bool mayRun(const AuthorCode& code, const Expr* call, const FunctionDecl* g, llvm::DenseSet<const FunctionDecl*>& seen) {
  return llvm::any_of(code.targets(call), [&](const FunctionDecl* f) {
    if (f->getCanonicalDecl() == g->getCanonicalDecl()) return true;
    const Function* known = seen.insert(f->getCanonicalDecl()).second ? code.find(f) : nullptr;
    bool yes = false;
    if (known) forEachExpr(known->body, [&](const Expr* e) { yes = yes || (calleeOf(e) && mayRun(code, e, g, seen)); });
    return yes;
  });
}

// Does `x` run before `at` only, whenever their function runs?
bool TrainingCalls::isBefore(const Expr* x, const Expr* at) const {
  const FunctionDecl* f = code_.functionOf(at);
  const auto here = [&](const Expr* e) {
    const auto around = sites_.loopsAround(at);
    const bool again = llvm::any_of(sites_.loopsAround(e), [&](const Stmt* l) { return llvm::is_contained(around, l); });
    return !again && code_.context().getSourceManager().isBeforeInTranslationUnit(e->getBeginLoc(), at->getBeginLoc());
  };
  const FunctionDecl* g = code_.functionOf(x);
  if (!f || !g || isa<CXXConstructorDecl>(g)) return true;
  if (g == f) return here(x);
  bool yes = true;
  forEachExpr(f->getBody(), [&](const Expr* e) {
    llvm::DenseSet<const FunctionDecl*> seen;
    if (yes && calleeOf(e) && mayRun(code_, e, g, seen)) yes = here(e);
  });
  return yes;
}

// net->is_training(): what a model is asked changes with its mode.
static bool asksModel(const Expr* e, const Dialect& dialect) {
  const auto* m = dyn_cast_or_null<CXXMethodDecl>(calleeOf(e));
  return m && m->isConst() && m->getReturnType()->isBooleanType() && dialect.is(m->getParent(), Role::Module);
}

// Is the condition the same at `at` and wherever it stands behind, until the function of `at` returns?
bool TrainingCalls::isSettled(const Expr* condition, const Expr* at) const {
  bool settled = true, asks = false;
  llvm::SmallVector<const Expr*, 2> asked;
  forEachExpr(condition, [&](const Expr* e) {
    if (asksModel(e, sites_.dialect())) asked.push_back(e), asks = true;
  });
  forEachExpr(condition, [&](const Expr* e) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
    if (!d || isa<FunctionDecl, EnumConstantDecl>(d)) return;
    if (llvm::any_of(asked, [&](const Expr* a) { return isWithin(code_, e, a); })) return;
    if (isa<VarDecl>(d) && isFixed(d)) return;
    const bool plain = isa<VarDecl, FieldDecl>(d) && (d->getType().getNonReferenceType()->isScalarType() || isStdRecord(d->getType().getNonReferenceType()));
    settled = settled && plain && llvm::all_of(definitions_.of(d), [&](const Definition& def) { return def.value && isBefore(def.value, at); });
  });
  for (const Role role : {Role::TrainMode, Role::EvalMode})
    for (const Site& s : sites_.of(role)) settled = settled && (!asks || isBefore(s.call, at));
  return settled;
}

// Both parts of `a && b` hold where it does; neither of `a || b` does where it does not. A flag holds when what it was made from does.
void TrainingCalls::assume(const Expr* condition, bool holds, const Expr* at, Assumed& assumed) const {
  condition = strip(condition);
  const Condition c = conditionOf(condition, code_.context());
  assumed.conditions.emplace_back(c.id, holds != c.negated);
  if (const auto* u = dyn_cast<UnaryOperator>(condition); u && u->getOpcode() == UO_LNot) return assume(u->getSubExpr(), !holds, at, assumed);
  if (const auto* b = dyn_cast<BinaryOperator>(condition); b && b->isLogicalOp() && holds == (b->getOpcode() == BO_LAnd)) {
    assume(b->getLHS(), holds, at, assumed);
    assume(b->getRHS(), holds, at, assumed);
  }
  const auto* v = isa<DeclRefExpr>(condition) ? dyn_cast_or_null<VarDecl>(declOf(condition)) : nullptr;
  if (v && v->isLocalVarDecl() && v->getInit() && isFixed(v) && isSettled(v->getInit(), v->getInit())) assume(v->getInit(), holds, at, assumed);
}

// Is the value the same for training and evaluation? Numbers (an epoch, a rank of a tensor) say nothing of what a function is to do; flags, texts, what a
// model is asked may.
bool TrainingCalls::isOfTheRun(const Expr* e) const {
  const auto inMain = [&](const Stmt* s) {
    const FunctionDecl* f = s ? code_.functionOf(s) : nullptr;
    return f && f->isMain() && sites_.loopsAround(s).empty();
  };
  bool once = true;
  forEachExpr(e, [&](const Expr* x) {
    once = once && !asksModel(x, sites_.dialect());
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (!d || isa<FunctionDecl, EnumConstantDecl>(d)) return;
    const QualType t = d->getType().getNonReferenceType();
    if (t->isArithmeticType() && !t->isBooleanType() && !t->isEnumeralType()) return;
    const auto* v = dyn_cast<VarDecl>(d);
    const auto* p = dyn_cast_or_null<ParmVarDecl>(v);
    const auto* of = p ? dyn_cast<FunctionDecl>(p->getDeclContext()) : nullptr;
    once = once && v && isFixed(v) && (p ? of && of->isMain() : v->hasGlobalStorage() || inMain(v->getInit()));
  });
  return once || inMain(e);
}

// Does the loop train or evaluate, as something says that is known when it begins?
bool TrainingCalls::servesBoth(const Stmt* loop) const {
  const Stmt* body = loopBody(loop);
  const Expr* at = nullptr;
  forEachExpr(loop, [&](const Expr* e) { at = at ? at : e; });
  bool both = false;
  const auto ask = [&](const Expr* condition) {
    if (both || !condition || !at || !isSettled(condition, at)) return;
    for (const bool holds : {true, false}) {
      Assumed assumed;
      assume(condition, holds, at, assumed);
      both = both || !run(loop, assumed).trains;
    }
  };
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s || isa<LambdaExpr>(s)) return;
    if (const auto* i = dyn_cast<IfStmt>(s)) ask(i->getCond());
    for (const Stmt* c : s->children()) self(self, c);
  };
  walk(walk, body);
  return both;
}

// Something decides between sizes that may be other for each call of what gets them, and that trains and evaluates.
bool TrainingCalls::isOpen(const Expr* selector, const std::function<bool()>& trains) const {
  if (isOfTheRun(selector)) return false;
  llvm::SetVector<const Stmt*> loops;
  reached_ = &loops;
  trains();
  reached_ = nullptr;
  return llvm::any_of(loops, [&](const Stmt* l) { return servesBoth(l); });
}

// `sizes[training]`, `size_for(training)`, `8 * (training ? 1 : 2)`, `8 << !training`.
bool TrainingCalls::isOpen(const Expr* size) const {
  llvm::SmallVector<const Expr*, 4> selectors;
  forEachExpr(size, [&](const Expr* e) {
    const auto arguments = argumentsOf(e);
    if (const auto* c = dyn_cast<ConditionalOperator>(e)) selectors.push_back(c->getCond());
    if (const auto* s = dyn_cast<ArraySubscriptExpr>(e)) selectors.push_back(s->getIdx());
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript && o->getNumArgs() == 2) selectors.push_back(o->getArg(1));
    if (calleeName(e) == "at" || !code_.targets(e).empty()) selectors.append(arguments.begin(), arguments.end());
    const auto* c = dyn_cast<ImplicitCastExpr>(e);
    if (c && c->getCastKind() == CK_IntegralCast && c->getSubExpr()->getType()->isBooleanType()) selectors.push_back(c->getSubExpr());
  });
  return llvm::any_of(selectors, [&](const Expr* s) { return isOpen(s, [&] { return mayTrainWith(size, Assumed()); }); });
}

std::optional<bool> TrainingCalls::trainedWhere(const Expr* size, const Expr* flag) const {
  const auto trains = [&](bool holds) {
    Assumed assumed;
    if (isSettled(flag, size)) assume(flag, holds, size, assumed);
    return mayTrainWith(size, assumed);
  };
  const bool yes = trains(true), no = trains(false);
  return yes != no ? std::optional(yes) : std::nullopt;
}

TrainingCalls::Trained TrainingCalls::trainedOf(const ConditionalOperator* choice) const {
  Trained out;
  const auto trains = [&](bool chosen) {
    Assumed assumed;
    if (isSettled(choice->getCond(), choice)) assume(choice->getCond(), chosen, choice, assumed);
    return mayTrainWith(choice, assumed);
  };
  const bool first = trains(true), second = trains(false);
  if (first != second) out.values.push_back(first ? choice->getTrueExpr() : choice->getFalseExpr());
  out.unclear = first && second && isOpen(choice->getCond(), [&] { return mayTrainWith(choice, Assumed()); });
  return out;
}

// `switch (mode) { case Mode::train: size = 8; break; ..`: what the mode is there.
void TrainingCalls::sayLabel(const SwitchStmt* s, const Expr* value, llvm::SmallVectorImpl<const Expr*>& conditions, Assumed& assumed) const {
  conditions.push_back(s->getCond());
  const auto* v = isa<DeclRefExpr>(strip(s->getCond())) ? dyn_cast_or_null<VarDecl>(declOf(s->getCond())) : nullptr;
  const auto* body = dyn_cast_or_null<CompoundStmt>(s->getBody());
  if (!v || !body) return;
  const CaseStmt* label = nullptr;
  bool several = false;
  for (const Stmt* part : body->body()) {
    while (const auto* c = dyn_cast<SwitchCase>(part)) {
      several = label != nullptr || !isa<CaseStmt>(c);
      label = dyn_cast<CaseStmt>(c);
      part = c->getSubStmt();
    }
    if (isWithin(code_, value, part)) break;
    if (isa<BreakStmt, ReturnStmt>(part)) label = nullptr, several = false;
  }
  if (label && !several && !label->getRHS()) assumed.values[v] = valueOf(label->getLHS(), Assumed());
}

// What holds where a definition of a variable is reached, and is not written over behind.
Assumed TrainingCalls::assumedAt(const Expr* value, llvm::ArrayRef<const Expr*> all, llvm::SmallVectorImpl<const Expr*>& conditions) const {
  Assumed assumed;
  const FunctionDecl* f = code_.functionOf(value);
  const auto say = [&](const IfStmt* i, bool holds) {
    conditions.push_back(i->getCond());
    if (!i->getConditionVariable() && isSettled(i->getCond(), i->getCond())) assume(i->getCond(), holds, i->getCond(), assumed);
  };
  for (const Stmt *below = value, *p = code_.parent(value); p; below = p, p = code_.parent(p)) {
    if (const auto* i = dyn_cast<IfStmt>(p); i && below != i->getCond()) say(i, below == i->getThen());
    if (const auto* w = dyn_cast<SwitchStmt>(p)) sayLabel(w, value, conditions, assumed);
  }
  for (const Expr* other : all) {
    if (other == value || code_.functionOf(other) != f || !code_.context().getSourceManager().isBeforeInTranslationUnit(value->getBeginLoc(), other->getBeginLoc())) continue;
    const IfStmt* only = nullptr;
    bool then = false, plain = true;
    for (const Stmt *below = other, *p = code_.parent(other); p && !isWithin(code_, value, p); below = p, p = code_.parent(p)) {
      plain = plain && !isLoop(p) && !isa<SwitchStmt>(p) && !(isa<IfStmt>(p) && only);
      if (const auto* i = dyn_cast<IfStmt>(p)) only = i, then = below == i->getThen();
    }
    if (only && plain) say(only, !then);
  }
  return assumed;
}

TrainingCalls::Trained TrainingCalls::trainedOf(const ValueDecl* d) const {
  Trained out;
  llvm::SmallVector<const Expr*, 4> all;
  bool plain = true;
  for (const Definition& def : definitions_.of(d)) {
    if (!def.value || def.through) return out;
    plain = plain && !def.compound;
    all.push_back(def.value);
  }
  llvm::SmallVector<const Expr*, 4> conditions;
  if (all.size() < 2 || isa<ParmVarDecl>(d)) return out;
  for (const Expr* value : all) {
    Seen seen;
    if (followUses(d, assumedAt(value, all, conditions), seen) || !plain) out.values.push_back(value);
  }
  if (out.values.size() == all.size()) {
    out.values.clear();
    for (const Expr* c : conditions)
      out.unclear = out.unclear || isOpen(c, [&] {
                      Seen seen;
                      return followUses(d, Assumed(), seen);
                    });
  }
  return out;
}

}  // namespace hvdize
