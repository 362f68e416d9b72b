// SPDX-License-Identifier: Apache-2.0
// Means over counted terms. Where one is used in the function that forms it, its count can be named there; elsewhere it must be an ordinary
// mean over the samples, and is made one where it is formed. What has been found out with the other kind is then found out anew.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Is this mean used outside of the function that forms it?
bool Kinds::leaves(const Value& mean, const Expr* use) {
  if (mean.kind != Kind::CountMean || !mean.formed || code_.functionOf(mean.formed) == code_.functionOf(use)) return false;
  if (leaving_.insert(mean.formed).second) again_ = true;
  return true;
}

// Two means with counts of their own, or one of them over samples: what they make together has no one count.
bool Kinds::meet(const Value& a, const Value& b) {
  const auto isMean = [](const Value& v) { return v.kind == Kind::Mean || v.kind == Kind::CountMean; };
  if (!isMean(a) || !isMean(b) || (a.kind == b.kind && (a.count == b.count || a.formed == b.formed))) return false;
  for (const Value* v : {&a, &b}) becomeMean(*v);
  return true;
}

void Kinds::becomeMean(const Value& v) {
  if (v.kind == Kind::CountMean && v.formed && leaving_.insert(v.formed).second) again_ = true;
}

Value Kinds::formedMean(const Value& v) {
  if (v.kind != Kind::CountMean || !leaving_.count(v.formed)) return v;
  if (recording_) countedMeans_[v.formed] = v;
  return Value(Kind::Mean).after(v, v);
}

static bool isPart(const Value& v) { return v.kind == Kind::Rows || v.kind == Kind::Sum; }
static bool isAlike(const Value& v) { return v.isUniform() && v.kind != Kind::None && v.kind != Kind::Zero; }
static constexpr const char* kEither = "it is a part of this rank's or what all ranks have alike, and nothing behind it can tell which";

// n = last ? 1 : rows
void Kinds::checkEither(const Value& a, const Value& b, const Expr* where) {
  const bool mixed = (isPart(a) && isAlike(b)) || (isAlike(a) && isPart(b));
  if (mixed && batches_.inStep(where) > 0) problem(where, Value::unknown(where, kEither), "chosen here");
}

// The same, said with assignments or returned. What a variable held before the loop is of no step.
void Kinds::checkAlternatives() {
  const auto within = [&](const Definition& def) { return def.value && !def.compound && !def.through && batches_.inStep(def.value) > 0; };
  std::vector<const Expr*> mixed;
  for (const auto& [d, v] : decls_) {
    if (!isPart(v) || isa<ParmVarDecl>(d) || isTensor(d->getType()) || (isStdRecord(d->getType()) && beginsWithRows(d))) continue;  // terms of a tensor's sum are shared out
    for (const Definition& def : definitions_.of(d))
      if (within(def) && !isEmptyArgument(def.value) && isAlike(of(def.value))) mixed.push_back(def.value);
  }
  for (const auto& [f, v] : returns_) {
    if (!isPart(v)) continue;
    for (const Expr* r : definitions_.returns(f))
      if (batches_.inStep(r) > 0 && isAlike(of(r))) mixed.push_back(r);
  }
  const auto byPlace = [](const Expr* a, const Expr* b) { return a->getBeginLoc() < b->getBeginLoc(); };
  llvm::sort(mixed, byPlace);
  for (const Expr* e : mixed) problem(e, Value::unknown(e, kEither), "assigned here");
  // `if (show) out = net(held_out);`: behind it the variable holds the outputs for this rank's samples, or those of all ranks.
  const auto ofAll = [&](const Expr* x) {
    bool any = false;
    forEachExpr(x, [&](const Expr* part) { any = any || uniformForwards_.count(part); });
    return any && of(x).isUniform();
  };
  std::vector<const Expr*> read;
  for (const auto& [d, v] : decls_) {
    const auto* variable = dyn_cast<VarDecl>(d);
    if (!variable || !variable->isLocalVarDecl() || !v.dependsOnSamples() || !isTensor(d->getType())) continue;
    if (llvm::none_of(definitions_.of(d), [&](const Definition& def) { return within(def) && ofAll(def.value); })) continue;
    for (const Expr* use : definitions_.uses(d)) {
      const Stmt* p = code_.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
      if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == use) continue;
      bool start = false;
      const auto values = batches_.inStep(use) > 0 ? ranks_.reaching(variable, use, start) : std::nullopt;
      if (values && llvm::any_of(*values, ofAll) && llvm::any_of(*values, [&](const Expr* x) { return of(x).dependsOnSamples(); }))
        read.push_back(use);
    }
  }
  llvm::sort(read, byPlace);
  for (const Expr* use : read) problem(use, Value::unknown(use, kEither), "read here");
}

// Does the function handle plain numbers only?
static bool handlesNumbers(const Function* f, const Dialect& dialect) {
  bool only = f != nullptr;
  if (only) forEachExpr(f->body, [&](const Expr* x) { only = only && !dialect.is(x->getType(), Role::Tensor); });
  return only;
}

// Is the parameter of whatever type the call has? What is written in the body holds for texts as well.
static bool takesAnyType(const FunctionDecl* f, const ParmVarDecl* p) {
  const FunctionDecl* pattern = f->getTemplateInstantiationPattern();
  if (!pattern || !p->getType().getNonReferenceType()->isArithmeticType()) return false;
  for (const ParmVarDecl* q : pattern->parameters())
    if (q->getLocation() == p->getLocation()) return q->getType()->isDependentType();
  return false;
}

// A tensor with one number, of this rank's part of the batch.
static bool isNumberOf(const Value& v) {
  switch (v.kind) {
    case Kind::Mean: case Kind::Sum: case Kind::Max: case Kind::Min: case Kind::CountMean: return !v.flat && !v.listed && !v.earlier && !v.carried;
    default: return false;
  }
}

// `double number(const Tensor& t) { return t.detach().item<double>(); }`: given means and sums, the tensor is combined where it is given.
bool Kinds::isOnlyReadAsNumber(const ParmVarDecl* p) const {
  if (!isTensor(p->getType())) return false;
  const auto uses = definitions_.uses(p);
  return !uses.empty() && llvm::all_of(uses, [&](const Expr* use) {
    const Stmt* s = use;
    for (const Expr* read = use;;) {
      do s = code_.parent(s);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(s));
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(s);
      const Entry* entry = call && strip(objectOf(call)) == strip(read) ? dialect_.lookup(call) : nullptr;
      if (!entry || entry->role != Role::Op) return false;
      if (entry->op == OpKind::ToHost) return true;
      if (entry->op != OpKind::Elementwise || llvm::any_of(argumentsOf(call), [&](const Expr* a) { return isTensor(a->getType()); })) return false;
      read = call;
    }
  });
}

// `end - i` with `end = min(i + batch, n)`, or with `end = i + batch < n ? i + batch : n`: as many as the batch has.
bool Kinds::countsBetween(const Expr* end, const Expr* begin) {
  // `const long first = i;`
  const auto named = [&](const Expr* e) {
    const ValueDecl* d = isa<DeclRefExpr>(strip(e)) ? declOf(e) : nullptr;
    for (unsigned depth = 0; d && depth < 3; ++depth) {
      const auto given = definitions_.of(d);
      const bool other = isa<VarDecl>(d) && !isa<ParmVarDecl>(d) && given.size() == 1 && given[0].value && !given[0].compound && !given[0].through && isa<DeclRefExpr>(strip(given[0].value));
      if (!other) break;
      d = declOf(given[0].value);
    }
    return d;
  };
  const ValueDecl* start = named(begin);
  if (!start || !begin->getType()->isIntegerType() || batchSizes_.empty() || batches_.inStep(end) == 0) return false;
  const auto adds = [&](auto&& self, const Expr* e, unsigned depth) -> bool {
    e = strip(e);
    if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return self(self, cast->getSubExpr(), depth);
    if (const auto* sum = dyn_cast<BinaryOperator>(e))
      return sum->getOpcode() == BO_Add && ((named(sum->getLHS()) == start && eval(sum->getRHS()).kind == Kind::BatchSize) || (named(sum->getRHS()) == start && eval(sum->getLHS()).kind == Kind::BatchSize));
    if (const auto* either = dyn_cast<ConditionalOperator>(e)) return self(self, either->getTrueExpr(), depth) || self(self, either->getFalseExpr(), depth);
    if (const FunctionDecl* f = calleeOf(e); f && isSystemDecl(f) && calleeName(e) == "min")
      return llvm::any_of(argumentsOf(e), [&](const Expr* a) { return self(self, a, depth); });
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (!v || v == start || depth > 2) return false;
    const auto given = definitions_.of(v);
    return given.size() == 1 && given[0].value && !given[0].compound && self(self, given[0].value, depth + 1);
  };
  return adds(adds, end, 0);
}

// The size of the batch, and what is left of the samples where that is less.
bool Kinds::isClipped(const Expr* a, const Expr* b) {
  const auto isRest = [](const Expr* e) {
    const auto* difference = dyn_cast<BinaryOperator>(strip(e));
    return difference && difference->getOpcode() == BO_Sub;
  };
  return (eval(a).kind == Kind::BatchSize && isRest(b)) || (eval(b).kind == Kind::BatchSize && isRest(a));
}

// `while (n-- > 0)`, `left -= 4`: from a count of rows that is counted on, the number of the whole batch cannot be made any more. It is counted whole
// where the variable gets it.
void Kinds::countsOn(const Expr* target) {
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(strip(target)));
  if (v && v->getType()->isArithmeticType() && eval(target).kind == Kind::Rows && combinedFirst_.insert(v).second) again_ = true;
}

// The body of a loop. `for (i < x.size(0)) ++n`, `for (auto& row : x.unbind()) ++n`: numbers of the whole batch, which grow with it.
void Kinds::walkRounds(const Stmt* loop) {
  const Stmt* body = loopBody(loop);
  walk(body);
  if (batches_.isStepLoop(loop) || batches_.inStep(loop) == 0) return;
  const auto* range = dyn_cast<CXXForRangeStmt>(loop);
  const auto* head = dyn_cast<ForStmt>(loop);
  const auto* until = isa<WhileStmt>(loop) ? cast<WhileStmt>(loop)->getCond() : nullptr;
  const Value rows = range ? eval(range->getRangeInit()) : Value();
  bool goesByRows = range && rows.kind == Kind::Unknown;
  forEachExpr(head ? head->getCond() : until, [&](const Expr* x) {
    if (x->getType()->isArithmeticType() && !x->getType()->isBooleanType()) goesByRows = goesByRows || eval(x).kind == Kind::Rows || (eval(x).isUniform() && eval(x).power > 0);
  });
  if (!goesByRows) return;
  bool counts = false;
  forEachExpr(body, [&](const Expr* x) {
    const auto* step = dyn_cast<UnaryOperator>(x);
    const auto* sum = dyn_cast<BinaryOperator>(x);
    const bool adds = sum && sum->getOpcode() == BO_AddAssign && eval(sum->getRHS()).isUniform();
    const Expr* target = step && step->isIncrementOp() ? step->getSubExpr() : adds ? sum->getLHS() : nullptr;
    const ValueDecl* d = target && target->getType()->isArithmeticType() ? declOf(strip(target)) : nullptr;
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    const DeclStmt* declared = v ? code_.declStmt(v) : nullptr;
    if (!d || (declared && isWithin(code_, declared, loop))) return;
    counts = true;
    Value number(Kind::Uniform);
    number.power = 1;
    if (!v || !v->isLocalVarDecl() || !declared || batches_.inStep(declared) == 0) return;
    if (countedByRows_.insert(v).second) again_ = true;
    assignDecl(v, number);
  });
  if (counts && range && recording_) cross(range->getRangeInit(), rows, "its rows are counted");
}

// The text of a template is that of all its instances.
void Kinds::combineFirst(const FunctionDecl* f, const ParmVarDecl* p) {
  again_ = true;
  combinedFirst_.insert(p);
  const FunctionDecl* pattern = f->getTemplateInstantiationPattern();
  for (const Function& other : code_.functions())
    if (pattern && other.decl != f && other.decl->getTemplateInstantiationPattern() == pattern)
      for (const ParmVarDecl* q : other.decl->parameters())
        if (q->getLocation() == p->getLocation()) combinedFirst_.insert(q);
}

// init(x.size(0)) and init(batch_size): inside, it is the number of this rank's rows, so that is what the second call gives.
bool Kinds::takesRows(const ParmVarDecl* p, const Value& given, const Expr* at) {
  if (given.kind != Kind::BatchSize || decls_.lookup(p).kind != Kind::Rows || combinedFirst_.count(p) || batches_.inStep(at) == 0) return false;
  if (recording_) localSizes_.insert(at);
  return true;
}

// meter.update(loss, rows) and meter.update(rate, 1): inside, a part of this rank's cannot be told from what all ranks have alike. A meter of
// plain numbers gets what is combined already.
void Kinds::meetsParts(const FunctionDecl* f, const ParmVarDecl* p, const Value& given, const Expr* at) {
  const Value part = decls_.lookup(p);
  if (isNumberOf(part) && isNumberOf(given) && part.kind != given.kind && !combinedFirst_.count(p) && isOnlyReadAsNumber(p)) return combineFirst(f, p);
  if (isPart(given) && !combinedFirst_.count(p) && batches_.inStep(at) > 0 && takesAnyType(f, p) && handlesNumbers(code_.find(f), dialect_)) {
    combineFirst(f, p);
    return;
  }
  if (!isPart(part) || !isAlike(given) || combinedFirst_.count(p) || batches_.inStep(at) == 0) return;
  if (handlesNumbers(code_.find(f), dialect_)) combineFirst(f, p);
  else if (recording_)
    problem(at, Value::unknown(at, "all ranks have it alike, and other calls in the step give this parameter a part of this rank's"), "given here");
}

}  // namespace hvdize
