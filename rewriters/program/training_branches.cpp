// SPDX-License-Identifier: Apache-2.0
// What a call runs when some of its arguments are known: does it come to a backward?
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/training_calls.h"

using namespace clang;

namespace hvdize {

static constexpr unsigned kDeepest = 12;

static KnownValue number(int64_t n) { return {KnownValue::Is::Number, n, "", nullptr, nullptr}; }
static std::optional<bool> truth(const KnownValue& v) {
  return v.is == KnownValue::Is::Number ? std::optional(v.number != 0) : v.is == KnownValue::Is::Function ? std::optional(true) : std::nullopt;
}

Condition conditionOf(const Expr* e, ASTContext& context) {
  Condition c;
  e = strip(e);
  for (const UnaryOperator* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_LNot; u = dyn_cast<UnaryOperator>(e)) {
    e = strip(u->getSubExpr());
    c.negated = !c.negated;
  }
  if (const auto* w = dyn_cast<CXXRewrittenBinaryOperator>(e)) {
    const Condition inner = conditionOf(w->getSemanticForm(), context);
    return {inner.id, inner.negated != c.negated};
  }
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool equal = (b && b->getOpcode() == BO_EQ) || (o && o->getOperator() == OO_EqualEqual);
  const bool other = (b && b->getOpcode() == BO_NE) || (o && o->getOperator() == OO_ExclaimEqual);
  if ((equal || other) && (b || o->getNumArgs() == 2)) {
    c.negated = c.negated != other;
    c.id.AddBoolean(true);
    strip(b ? b->getLHS() : o->getArg(0))->Profile(c.id, context, true);
    strip(b ? b->getRHS() : o->getArg(1))->Profile(c.id, context, true);
    return c;
  }
  c.id.AddBoolean(false);
  e->Profile(c.id, context, true);
  return c;
}

// Is the variable what it has been made with, all its life?
bool TrainingCalls::isFixed(const ValueDecl* d) const {
  if (d->getType().isConstQualified()) return true;
  return llvm::all_of(definitions_.uses(d), [&](const Expr* use) {
    const Stmt* below = use;
    const Stmt* p = code_.parent(use);
    for (; isa_and_nonnull<ParenExpr, MemberExpr>(p) || (isa_and_nonnull<ImplicitCastExpr>(p) && cast<CastExpr>(p)->getCastKind() != CK_LValueToRValue && !cast<Expr>(p)->getType().isConstQualified());
         p = code_.parent(p))
      below = p;
    if (!p || isa<ImplicitCastExpr, LambdaExpr>(p)) return true;
    if (const auto* b = dyn_cast<BinaryOperator>(p)) return !(b->isAssignmentOp() && b->getLHS() == below);
    if (const auto* u = dyn_cast<UnaryOperator>(p)) return !u->isIncrementDecrementOp() && u->getOpcode() != UO_AddrOf;
    const auto* call = dyn_cast<Expr>(p);
    const FunctionDecl* f = call ? calleeOf(call) : nullptr;
    if (!f) return false;
    const auto* m = dyn_cast<CXXMethodDecl>(f);
    if (const Expr* object = m ? objectOf(call) : nullptr; object && rootOf(object) == d) return m->isConst();
    const auto arguments = argumentsOf(call);
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (const ParmVarDecl* q = rootOf(arguments[i]) == d ? parameterOf(call, i) : nullptr)
        if (q->getType()->isLValueReferenceType() && !q->getType()->getPointeeType().isConstQualified()) return false;
    return true;
  });
}

KnownValue TrainingCalls::valueOfDecl(const ValueDecl* d, const Assumed& assumed, unsigned depth) const {
  if (const auto it = assumed.values.find(d); it != assumed.values.end()) return isFixed(d) ? it->second : KnownValue();
  const auto* v = dyn_cast<VarDecl>(d);
  if (isa<FunctionDecl>(d)) return {KnownValue::Is::Function, 0, "", cast<FunctionDecl>(d), nullptr};
  if (v && v->isInStdNamespace() && v->getName() == "nullopt") return number(0);
  const auto given = v && !isa<ParmVarDecl>(v) ? definitions_.of(v) : llvm::ArrayRef<Definition>();
  return given.size() == 1 && given[0].value && !given[0].compound && !given[0].through && isFixed(v) ? valueOf(given[0].value, assumed, depth + 1) : KnownValue();
}

KnownValue TrainingCalls::valueOfBinary(const BinaryOperator* b, const Assumed& assumed, unsigned depth) const {
  const KnownValue l = valueOf(b->getLHS(), assumed, depth + 1), r = valueOf(b->getRHS(), assumed, depth + 1);
  if (b->isLogicalOp()) {
    const bool decides = b->getOpcode() == BO_LOr;
    const auto left = truth(l), right = truth(r);
    if (left == decides || right == decides) return number(decides);
    return left && right ? number(!decides) : KnownValue();
  }
  if (l.is != KnownValue::Is::Number || r.is != KnownValue::Is::Number) return {};
  switch (b->getOpcode()) {
    case BO_EQ: return number(l.number == r.number);
    case BO_NE: return number(l.number != r.number);
    case BO_LT: return number(l.number < r.number);
    case BO_GT: return number(l.number > r.number);
    case BO_LE: return number(l.number <= r.number);
    case BO_GE: return number(l.number >= r.number);
    case BO_And: return number(l.number & r.number);
    default: return {};
  }
}

// part.train, where `part` is {held, 16, false}.
KnownValue TrainingCalls::valueOfMember(const MemberExpr* m, const Assumed& assumed, unsigned depth) const {
  const auto* field = dyn_cast<FieldDecl>(m->getMemberDecl());
  const KnownValue object = field && !m->isArrow() ? valueOf(m->getBase(), assumed, depth + 1) : KnownValue();
  if (object.is != KnownValue::Is::Object || object.members->getType()->getAsCXXRecordDecl() != field->getParent() || object.members->getType()->isUnionType()) return {};
  // Bases come first in the list.
  const unsigned index = field->getFieldIndex() + object.members->getType()->getAsCXXRecordDecl()->getNumBases();
  return index < object.members->getNumInits() ? valueOf(object.members->getInit(index), assumed, depth + 1) : KnownValue();
}

// Objects that may be empty, texts, and what asks for them.
KnownValue TrainingCalls::valueOfObject(const Expr* e, const Assumed& assumed, unsigned depth) const {
  const auto* op = dyn_cast<CXXOperatorCallExpr>(e);
  if (op && (op->getOperator() == OO_EqualEqual || op->getOperator() == OO_ExclaimEqual) && op->getNumArgs() == 2) {
    const KnownValue l = valueOf(op->getArg(0), assumed, depth + 1), r = valueOf(op->getArg(1), assumed, depth + 1);
    if (l.is != r.is || l.is == KnownValue::Is::Unknown || l.is == KnownValue::Is::Function) return {};
    return number(((l.is == KnownValue::Is::Text ? l.text == r.text : l.number == r.number)) == (op->getOperator() == OO_EqualEqual));
  }
  if (const auto* asks = dyn_cast<CXXMemberCallExpr>(e); asks && objectOf(asks) && isSystemDecl(calleeOf(asks))) {
    const llvm::StringRef name = calleeName(asks);
    if (name == "has_value" || name == "get" || isa<CXXConversionDecl>(calleeOf(asks))) return valueOf(objectOf(asks), assumed, depth + 1);
    return {};
  }
  if (const auto* made = dyn_cast<CXXConstructExpr>(e); made && isSystemDecl(made->getConstructor())) {
    const CXXRecordDecl* r = made->getConstructor()->getParent();
    const llvm::StringRef name = r->getIdentifier() ? r->getName() : "";
    const bool holder = name == "optional" || name == "unique_ptr" || name == "shared_ptr" || name == "function";
    const auto given = argumentsOf(made);
    if (given.empty()) return holder ? number(0) : KnownValue();
    if (given.size() != 1) return {};
    const KnownValue v = valueOf(given[0], assumed, depth + 1);
    // optional(false) holds something; optional(nullopt) does not.
    const QualType t = given[0]->getType().getNonReferenceType();
    if (name == "optional" && !(t->getAsCXXRecordDecl() && (t->getAsCXXRecordDecl()->getName() == "nullopt_t" || t->getAsCXXRecordDecl()->getName() == "optional"))) return number(1);
    return v;
  }
  const FunctionDecl* f = calleeOf(e);
  const bool makes = f && isSystemDecl(f) && (calleeName(e).starts_with("make_") || calleeName(e) == "ref" || calleeName(e) == "addressof");
  return makes ? number(1) : KnownValue();
}

KnownValue TrainingCalls::valueOf(const Expr* e, const Assumed& assumed, unsigned depth) const {
  if (!e || depth > kDeepest) return {};
  if (const auto* given = dyn_cast<CXXDefaultArgExpr>(e)) e = given->getExpr();
  e = strip(e);
  if (!assumed.conditions.empty()) {
    const Condition c = conditionOf(e, code_.context());
    for (const auto& [known, holds] : assumed.conditions)
      if (c.id == known) return number(holds != c.negated);
  }
  if (const auto* text = dyn_cast<StringLiteral>(e)) return text->getCharByteWidth() == 1 ? KnownValue{KnownValue::Is::Text, 0, text->getString().str(), nullptr, nullptr} : KnownValue();
  if (isa<CXXNullPtrLiteralExpr, GNUNullExpr>(e)) return number(0);
  if (const auto* l = dyn_cast<LambdaExpr>(e)) return {KnownValue::Is::Function, 0, "", l->getCallOperator(), nullptr};
  if (const auto* given = dyn_cast<CXXDefaultInitExpr>(e)) return valueOf(given->getExpr(), assumed, depth + 1);
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    if (list->getType()->isRecordType()) return {KnownValue::Is::Object, 0, "", nullptr, list->isSemanticForm() ? list : list->getSemanticForm()};
    return list->getNumInits() == 0 ? number(0) : KnownValue();
  }
  Expr::EvalResult r;
  if (!e->isValueDependent() && e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(r, code_.context())) return number(r.Val.getInt().getExtValue());
  if (const auto* u = dyn_cast<UnaryOperator>(e)) {
    if (u->getOpcode() == UO_AddrOf) return number(1);
    const auto t = u->getOpcode() == UO_LNot ? truth(valueOf(u->getSubExpr(), assumed, depth + 1)) : std::nullopt;
    return t ? number(!*t) : KnownValue();
  }
  if (const auto* w = dyn_cast<CXXRewrittenBinaryOperator>(e)) return valueOf(w->getSemanticForm(), assumed, depth + 1);
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return valueOfBinary(b, assumed, depth);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const auto t = truth(valueOf(c->getCond(), assumed, depth + 1));
    return t ? valueOf(*t ? c->getTrueExpr() : c->getFalseExpr(), assumed, depth + 1) : KnownValue();
  }
  if (const auto* name = dyn_cast<DeclRefExpr>(e)) return valueOfDecl(name->getDecl(), assumed, depth);
  if (const auto* m = dyn_cast<MemberExpr>(e)) return valueOfMember(m, assumed, depth);
  return valueOfObject(e, assumed, depth);
}

TrainingCalls::Outcome TrainingCalls::runIf(const IfStmt* s, const Assumed& assumed, unsigned depth) const {
  Assumed here = assumed;
  const VarDecl* v = s->getConditionVariable();
  KnownValue condition = valueOf(v ? v->getInit() : s->getCond(), assumed);
  if (v) here.values[v] = condition;
  const bool trains = run(s->getInit(), assumed, depth).trains || run(v ? v->getInit() : s->getCond(), assumed, depth).trains;
  if (const auto known = truth(condition)) {
    const Outcome o = run(*known ? s->getThen() : s->getElse(), here, depth);
    return {trains || o.trains, o.leaves};
  }
  const Outcome yes = run(s->getThen(), here, depth), no = run(s->getElse(), here, depth);
  return {trains || yes.trains || no.trains, yes.leaves && no.leaves};
}

TrainingCalls::Outcome TrainingCalls::runSwitch(const SwitchStmt* s, const Assumed& assumed, unsigned depth) const {
  const KnownValue chosen = valueOf(s->getCond(), assumed);
  const auto* body = dyn_cast_or_null<CompoundStmt>(s->getBody());
  if (chosen.is != KnownValue::Is::Number || !body) return {sites_.reaches(s, Role::Backward), false};
  const auto isChosen = [&](const SwitchCase* label) {
    const auto* c = dyn_cast<CaseStmt>(label);
    return c && !c->getRHS() && c->getLHS()->EvaluateKnownConstInt(code_.context()).getExtValue() == chosen.number;
  };
  bool named = false, entered = false;
  for (const SwitchCase* c = s->getSwitchCaseList(); c; c = c->getNextSwitchCase()) named = named || isChosen(c);
  Outcome all;
  for (const Stmt* part : body->body()) {
    while (const auto* label = dyn_cast<SwitchCase>(part)) {
      entered = entered || (named ? isChosen(label) : isa<DefaultStmt>(label));
      part = label->getSubStmt();
    }
    const Outcome o = entered && !all.leaves ? run(part, assumed, depth) : Outcome();
    all = {all.trains || o.trains, all.leaves || o.leaves};
  }
  return {all.trains, false};
}

bool TrainingCalls::callTrains(const Expr* call, const Assumed& assumed, unsigned depth) const {
  const Entry* entry = sites_.dialect().lookup(call);
  if (entry && entry->role == Role::Backward) return true;
  llvm::SmallVector<const FunctionDecl*, 2> targets = code_.targets(call);
  // step(loss), where the caller has handed a lambda for `step`.
  const auto* through = dyn_cast<CallExpr>(call);
  const Expr* called = dyn_cast<CXXOperatorCallExpr>(call) ? objectOf(call) : through ? through->getCallee() : nullptr;
  if (const KnownValue f = called ? valueOf(called, assumed) : KnownValue(); f.is == KnownValue::Is::Function && code_.find(f.function)) targets = {f.function};
  const auto arguments = argumentsOf(call);
  const bool opaque = targets.empty();
  for (const FunctionDecl* f : targets) {
    const Function* known = code_.find(f);
    if (!known || !sites_.functionReaches(f, Role::Backward)) continue;
    if (depth > kDeepest) return true;
    Assumed inside = assumed;
    for (unsigned i = 0; i < f->getNumParams(); ++i) {
      const ParmVarDecl* p = known->decl->getParamDecl(i);
      const Expr* given = i < arguments.size() ? arguments[i] : p->hasDefaultArg() && !p->hasUninstantiatedDefaultArg() ? p->getDefaultArg() : nullptr;
      inside.values[p] = valueOf(given, assumed);
    }
    if (run(known->body, inside, depth + 1).trains) return true;
  }
  // for_each(first, last, [&](auto& batch) { .. }): the library may call it.
  return opaque && llvm::any_of(arguments, [&](const Expr* a) {
           const KnownValue f = valueOf(a, assumed);
           return f.is == KnownValue::Is::Function && code_.find(f.function) && run(code_.find(f.function)->body, assumed, depth + 1).trains;
         });
}

TrainingCalls::Outcome TrainingCalls::run(const Stmt* s, const Assumed& assumed, unsigned depth) const {
  if (!s || isa<LambdaExpr>(s) || !sites_.reaches(s, Role::Backward)) {
    const bool leaves = isa_and_nonnull<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(s) || (isa_and_nonnull<ExprWithCleanups>(s) && isa<CXXThrowExpr>(cast<Expr>(s)->IgnoreParenImpCasts()));
    if (leaves || !isa_and_nonnull<CompoundStmt, IfStmt>(s)) return {false, leaves};
  }
  if (const auto* i = dyn_cast<IfStmt>(s)) return runIf(i, assumed, depth);
  if (const auto* w = dyn_cast<SwitchStmt>(s)) return runSwitch(w, assumed, depth);
  if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isLogicalOp()) {
    const auto left = truth(valueOf(b->getLHS(), assumed));
    const bool skips = left && *left == (b->getOpcode() == BO_LOr);
    return {run(b->getLHS(), assumed, depth).trains || (!skips && run(b->getRHS(), assumed, depth).trains), false};
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(s)) {
    const auto known = truth(valueOf(c->getCond(), assumed));
    return {run(c->getCond(), assumed, depth).trains || (known != false && run(c->getTrueExpr(), assumed, depth).trains) || (known != true && run(c->getFalseExpr(), assumed, depth).trains), false};
  }
  if (const auto* w = dyn_cast<WhileStmt>(s); w && truth(valueOf(w->getCond(), assumed)) == false) return {};
  if (const auto* e = dyn_cast<Expr>(s); e && calleeOf(e) && callTrains(e, assumed, depth)) return {true, false};
  Outcome all;
  for (const Stmt* c : s->children()) {
    const Outcome o = run(c, assumed, depth);
    all.trains = all.trains || o.trains;
    all.leaves = all.leaves || o.leaves;
    if (all.leaves && isa<CompoundStmt>(s)) break;
  }
  if (isLoop(s)) all.leaves = false;
  all.leaves = all.leaves || isa<ReturnStmt>(s);
  return all;
}

}  // namespace hvdize
