// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/evaluate.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/addresses.h"
#include "rewriters/program/host.h"
#include "rewriters/program/selected.h"
#include "rewriters/program/step_closures.h"

using namespace clang;

namespace hvdize {

Kinds::Kinds(const Batches& batches, const Definitions& definitions, const Sites& sites, llvm::DenseSet<const Expr*> batchSizes)
    : batches_(batches), definitions_(definitions), sites_(sites), code_(sites.code()), dialect_(sites.dialect()), ranks_(definitions, sites.dialect()), collations_(std::make_shared<const Collations>(definitions, sites.dialect())), surroundings_(std::make_shared<const Surroundings>(definitions)), threadProgress_(definitions, *surroundings_),
      batchSizes_(std::move(batchSizes)), searched_(searchedClosures(sites, definitions)) {
  solve();
}

void Kinds::solve() {
  for (const LoaderLoop& l : batches_.loaderLoops())
    if (l.sharded() && batches_.inStep(l.loop) > 0) nestedSteps_.push_back(l.loop);
  for (const HandLoop& h : batches_.handLoops())
    if (batches_.inStep(h.loop) > 0) nestedSteps_.push_back(h.loop);
  // The lattice is four steps high and every pass over the program carries a fact over at least one call.
  constexpr int kMaxPasses = 40;
  const auto pass = [this] {
    for (const Root& r : code_.roots()) {
      if (!r.in || r.initialises) {
        const auto* v = dyn_cast_or_null<VarDecl>(r.initialises);
        const Value value = combinedFirst_.count(r.initialises) ? host(cast<Expr>(r.code)) : eval(cast<Expr>(r.code));
        if (r.initialises) assignDecl(r.initialises, r.isGlobal() ? beforeMain(v, value) : value);
      } else if (isa<Expr>(r.code)) {
        eval(cast<Expr>(r.code));  // of a base
      } else {
        walk(r.code);
      }
    }
  };
  const auto seed = [this] {
    for (const LoaderLoop& l : batches_.loaderLoops())
      if (l.sharded()) assignDecl(l.variable, batchOf(l));
    findHeldModules();
    seedForwards();
  };
  const auto settle = [&] {
    for (int i = 0; i < kMaxPasses; ++i) {
      changed_ = again_ = false;
      pass();
      if (again_ || !changed_) break;
    }
  };
  const auto solveAll = [&] {
    do {
      // A mean was found to be of another kind than thought: everything that follows from it anew.
      decls_.clear(), returns_.clear(), atStart_.clear();
      settled_ = false;
      seed();
      settle();
      if (again_) continue;
      settled_ = true;  // what nobody gave a value by now is not known
      settle();
      if (!again_) refinePowers(pass);
    } while (again_);
  };
  solveAll();
  // Where a loss is a function of means and sums that is not linear, these are made whole with their gradients, if that helps; so are those that samples meet.
  if (lossesAreUnclear()) {
    static constexpr bool kAlternatives[][2] = {{true, false}, {false, true}, {true, true}, {false, false}};
    for (const auto& [numbers, rows] : kAlternatives) {
      gradedNumbers_ = numbers, gradedRows_ = rows;
      leaving_.clear();
      solveAll();
      if (!lossesAreUnclear()) break;
    }
  }
  recording_ = true;
  pass();
  shareFirstTerms();
  checkUniformCalls();
  checkAlternatives();
}

// A module inside a container of the framework is called from there: its input is what the container gets.
void Kinds::seedForwards() {
  for (const Function& f : code_.functions()) {
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    if (!m || !m->getDeclName().isIdentifier() || m->getName() != "forward") continue;
    const CXXRecordDecl* module = m->getParent()->getCanonicalDecl();
    if (!dialect_.is(module, Role::Module) || ((!code_.callers(m).empty() || calledModules_.count(module)) && !heldModules_.count(module))) continue;
    for (const ParmVarDecl* p : m->parameters())
      if (isTensor(p->getType())) assignDecl(p, Kind::Sharded), atStart_[p] = Kind::Sharded, seeded_.insert(p);
  }
}

Value Kinds::of(const Expr* e) {
  const bool was = recording_;
  recording_ = false;
  const Value v = eval(e);
  recording_ = was;
  return v;
}

bool Kinds::isTensor(QualType t) const { return dialect_.is(t.getNonReferenceType(), Role::Tensor); }

void Kinds::assignDecl(const ValueDecl* d, const Value& v, bool begins) {
  if (!d || v.kind == Kind::None) return;
  // `auto& [total, rows] = meter; total += ...`
  const auto* binding = begins ? nullptr : dyn_cast<BindingDecl>(d);
  if (const MemberExpr* field = binding && binding->getDecomposedDecl()->getType()->isReferenceType() ? fieldOf(binding) : nullptr) assignDecl(field->getMemberDecl(), v);
  // `total.rows += batch.rows`: one object holds the rows of a batch, and another those of many. They are counted whole where they come in.
  if (v.kind == Kind::Rows && isa<FieldDecl>(d) && llvm::any_of(definitions_.of(d), [](const Definition& def) { return def.compound; }) && combinedFirst_.insert(d).second)
    again_ = true;
  meet(decls_.lookup(d), v);
  if (refining_) freshDecls_[d] = join(freshDecls_.lookup(d), v);
  Value& at = decls_[d];
  const Value joined = join(at, v);
  if (joined == at) return;
  at = joined;
  changed_ = true;
  alikeHere_.clear();
}

bool Kinds::declaredOutsideStep(const Expr* lhs, const Expr* at) const {
  const ValueDecl* d = rootOf(lhs);
  if (!d) return false;
  if (isa<FieldDecl>(d)) d = variableAround(lhs);  // `result.loss` of a variable of this step
  if (!d || isa<FieldDecl>(d)) return true;
  const auto* v = dyn_cast<VarDecl>(d);
  if (v && (v->hasGlobalStorage() || v->isInitCapture())) return true;
  const DeclStmt* ds = v ? code_.declStmt(v) : nullptr;
  if (!ds && !isa<ParmVarDecl>(d)) return false;
  for (const Stmt* p = at; p; p = code_.parent(p))
    if (batches_.isStepLoop(p)) return !ds || !batches_.inBody(ds, p);  // a parameter of the function with the loop
  return false;
}

void Kinds::assign(const Expr* lhs, const Value& v) {
  const ValueDecl* d = rootOf(lhs);
  if (!d) return;
  if ((v.kind == Kind::Sharded || v.kind == Kind::Second) && (recording_ || !states_.count(d)) && isCarried(d, lhs)) {
    if (!v.joined && !v.listed && beginsWhole(d)) states_.insert(d);
    else problem(lhs, v, "a tensor with one row per sample is carried from batch to batch, and starts with the rows of all ranks");
  }
  assignDecl(d, v);
  // `auto& kept = list[0]; kept = rows;`: the list has them, too.
  const auto* name = isa<DeclRefExpr>(strip(lhs)) ? dyn_cast<VarDecl>(d) : nullptr;
  const bool reference = name && !isa<ParmVarDecl>(name) && name->getType()->isLValueReferenceType() && !name->getType()->getPointeeType().isConstQualified();
  if (reference && name->getInit() && !name->isCXXForRangeDecl() && rootOf(name->getInit()) != d) assign(name->getInit(), v);
}

// A tensor from outside the step that has rows before the first step begins: the hidden state of a recurrent network, say.
bool Kinds::isCarried(const ValueDecl* d, const Expr* at) const {
  const bool reference = d->getType()->isReferenceType() && !isa<ParmVarDecl>(d);
  if (!holdsState(d->getType()) || reference || batches_.inStep(at) == 0 || !declaredOutsideStep(at, at)) return false;
  for (const Stmt* p = at; p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p) && assignedFirst(d, p)) return false;
  // A module's latest output: each forward writes it before it looks at it.
  if (const Function* f = isa<FieldDecl>(d) ? code_.find(code_.functionOf(at)) : nullptr; f && assignedFirst(d, f->body)) return false;
  for (const Definition& def : definitions_.of(d)) {
    const Expr* value = def.value ? strip(def.value) : nullptr;
    if (!value || batches_.inStep(value) > 0) continue;
    const auto* k = dyn_cast<CXXConstructExpr>(value);
    if (!(k && argumentsOf(k).empty())) return true;
  }
  return false;
}

// Does every round of the loop give the variable a new value before it looks at the old one? Then nothing is carried over.
bool Kinds::assignedFirst(const ValueDecl* d, const Stmt* loop) const {
  const auto* body = dyn_cast_or_null<CompoundStmt>(isLoop(loop) ? loopBody(loop) : loop);
  const auto* v = dyn_cast<VarDecl>(d);
  if (!body || (v ? v->hasGlobalStorage() : !isa<FieldDecl>(d))) return false;
  const FunctionDecl* here = code_.functionOf(loop);
  if (v && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return code_.functionOf(use) != here; })) return false;  // a lambda may look at it at any time
  const auto within = [&](const Stmt* s, const Stmt* outer) {
    for (; s && s != outer; s = code_.parent(s)) {}
    return s != nullptr;
  };
  for (const Stmt* s : body->body()) {
    const auto named = [&](const Stmt* where) { return llvm::any_of(definitions_.uses(d), [&](const Expr* u) { return within(u, where); }); };
    if (!named(s)) continue;
    // `if (show) { picture = ...; use(picture); }`, and nowhere else in the loop.
    if (const auto* i = dyn_cast<IfStmt>(s); i && !named(i->getCond()) && !(i->getElse() && named(i->getElse())))
      return llvm::all_of(body->body(), [&](const Stmt* other) { return other == s || !named(other); }) && assignedFirst(d, i->getThen());
    const Expr* e = dyn_cast<Expr>(s) ? strip(cast<Expr>(s)) : nullptr;
    const Expr *to = nullptr, *value = nullptr;
    if (const auto* b = dyn_cast_or_null<BinaryOperator>(e); b && b->getOpcode() == BO_Assign) to = b->getLHS(), value = b->getRHS();
    if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal) to = o->getArg(0), value = o->getArg(1);
    const auto tied = e ? tiedBy(e) : llvm::SmallVector<const Expr*, 4>{};
    const auto* member = to ? dyn_cast<MemberExpr>(strip(to)) : nullptr;
    const bool whole = to && declOf(strip(to)) == d && (member ? isa<CXXThisExpr>(strip(member->getBase())) : isa<DeclRefExpr>(strip(to)));
    return (whole || llvm::any_of(tied, [&](const Expr* x) { return declOf(x) == d; })) && !named(value);
  }
  return false;
}

void Kinds::problem(const Expr* where, const Value& v, std::string what) {
  if (recording_) problems_.push_back({where, v, std::move(what)});
}

void Kinds::walkCondition(const Expr* condition, const Stmt* controlled) {
  if (!condition) return;
  const Value v = host(condition);
  if (!recording_ || v.kind != Kind::RankLocal || surroundings_->runsBeside(code_.functionOf(condition)) || waits(controlled)) return;
  localConditions_[condition] = controlled;
}

// `while (!ready) pause();`: every rank waits for a thread of its own.
bool Kinds::waits(const Stmt* loop) const {
  if (!isLoop(loop)) return false;
  bool only = true;
  forEachExpr(loopBody(loop), [&](const Expr* e) {
    // The framework's headers may be the system's: what it does is no pause.
    if (const FunctionDecl* f = calleeOf(e)) only = only && isSystemDecl(f) && !dialect_.owns(f) && hostRole(f) != HostRole::Print && hostRole(f) != HostRole::PrintTo;
    if (const auto* u = dyn_cast<UnaryOperator>(e)) only = only && !u->isIncrementDecrementOp();
    if (const auto* b = dyn_cast<BinaryOperator>(e)) only = only && !b->isAssignmentOp();
  });
  return only;
}

void Kinds::walk(const Stmt* s) {
  if (!s) return;
  if (const auto* e = dyn_cast<Expr>(s)) return (void)eval(e);
  if (const auto* ds = dyn_cast<DeclStmt>(s)) {
    for (const Decl* d : ds->decls()) {
      const auto* v = dyn_cast<VarDecl>(d);
      if (!v || !v->getInit()) continue;
      const Value value = combinedFirst_.count(v) ? host(v->getInit()) : eval(v->getInit());
      assignDecl(v, value);
      if (const auto* dd = dyn_cast<DecompositionDecl>(v)) {
        unsigned i = 0;
        for (const BindingDecl* b : dd->bindings()) {
          const Value part = partOf(b, v->getInit(), i++);
          assignDecl(b, part, true);
          if (const VarDecl* held = b->getHoldingVar()) assignDecl(held, part);
        }
      }
    }
    return;
  }
  if (const auto* r = dyn_cast<ReturnStmt>(s)) {
    const FunctionDecl* f = code_.functionOf(s);
    if (!r->getRetValue() || !f) return;
    const Value v = returned(f, r->getRetValue());
    meet(returns_.lookup(f->getCanonicalDecl()), v);
    if (refining_) freshReturns_[f->getCanonicalDecl()] = join(freshReturns_.lookup(f->getCanonicalDecl()), v);
    Value& at = returns_[f->getCanonicalDecl()];
    const Value joined = join(at, v);
    if (!(joined == at)) at = joined, changed_ = true;
    return;
  }
  if (const auto* i = dyn_cast<IfStmt>(s)) {
    walk(i->getInit());
    if (i->getConditionVariableDeclStmt()) walk(i->getConditionVariableDeclStmt());
    walkCondition(i->getCond(), i);
    walkGuarded(i->getCond(), i->getThen(), i->getElse());
    walk(i->getThen());
    return walk(i->getElse());
  }
  if (const auto* w = dyn_cast<WhileStmt>(s)) return walkCondition(w->getCond(), w), walkRounds(w);
  if (const auto* d = dyn_cast<DoStmt>(s)) return walk(d->getBody()), walkCondition(d->getCond(), d);
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    for (const LoaderLoop& l : batches_.loaderLoops())
      if (l.loop == f) return assignDecl(l.variable, batchOf(l)), walk(f->getBody());
    if (walkRowLoop(f)) return;
    walk(f->getInit());
    if (!walkList(f)) walkCondition(f->getCond(), f);
    walk(f->getInc());
    return walkRounds(f);
  }
  if (const auto* w = dyn_cast<SwitchStmt>(s)) return walkCondition(w->getCond(), w), walk(w->getBody());
  if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) {
    Value element = eval(r->getRangeInit());
    if (walkList(r)) element = itemOf(r->getRangeInit());
    for (const LoaderLoop& l : batches_.loaderLoops())
      if (l.loop == r) element = batchOf(l);
    assignDecl(r->getLoopVariable(), element);
    if (const auto* dd = dyn_cast<DecompositionDecl>(r->getLoopVariable()))
      for (const BindingDecl* b : dd->bindings()) {
        const MemberExpr* field = element.kind == Kind::Sharded ? fieldOf(b) : nullptr;
        assignDecl(b, field ? eval(field) : element, true);
        if (const VarDecl* held = b->getHoldingVar()) assignDecl(held, element);
      }
    if ((eval(r->getRangeInit()).listed ? !collectsOnly(r) : countedAtEnd(r) != nullptr) && walkRowLoop(r)) return;
    return walkRounds(r);
  }
  for (const Stmt* c : s->children()) walk(c);
}

Value Kinds::host(const Expr* e) {
  const Value v = eval(e);
  if (v.kind == Kind::Rows) {
    // A record of a step that is read when the step is over: it holds the rows of the whole batch.
    if (const ValueDecl* d = batches_.inStep(e) == 0 ? declOf(strip(e)) : nullptr; d && isa<FieldDecl>(d) && combinedFirst_.insert(d).second) again_ = true;
    if (recording_) {
      if (batches_.inStep(e) == 0) problem(e, v, "the number of rows is used outside the step it belongs to");
      else if (v.earlier) problem(e, v, "it counts the samples of an earlier batch, which had a slice of its own");
      else rowCounts_.insert(rowsFactor(e));
    }
    return combined(v);
  }
  if (v.kind == Kind::Shape) {
    if (!recording_) return Kind::Uniform;
    if (batches_.inStep(e) == 0) problem(e, v, "the shape of this rank's rows is used outside the step it belongs to");
    else if (v.earlier) problem(e, v, "it is the shape of an earlier batch, which had a slice of its own");
    else if (e->getType()->isPointerType()) problem(e, Value::unknown(e, "the extents of this rank's rows are read one by one"), "used here");
    else if (e->getType()->isArithmeticType()) problem(e, Value::unknown(e, "which extent of the shape this is is not known here"), "used here");
    else rowCounts_.insert(e);
    return Kind::Uniform;
  }
  if (v.dependsOnSamples()) return cross(e, v, "used here");
  return v;
}

// In a product of a count of rows and a number, the count.
const Expr* Kinds::rowsFactor(const Expr* e) {
  const auto* b = dyn_cast<BinaryOperator>(strip(e));
  if (!b || b->getOpcode() != BO_Mul) return e;
  if (eval(b->getLHS()).kind == Kind::Rows) return rowsFactor(b->getLHS());
  return eval(b->getRHS()).kind == Kind::Rows ? rowsFactor(b->getRHS()) : e;
}

Value Kinds::cross(const Expr* e, const Value& v, const char* what) {
  if (!v.dependsOnSamples()) return v;
  // A text in a pair or a map with numbers of the batch is not one of them.
  if (const CXXRecordDecl* r = e->getType().getNonReferenceType()->getAsCXXRecordDecl(); r && r->isInStdNamespace() && r->getName().contains("string")) return Kind::Uniform;
  leaves(v, e);
  if (v.kind == Kind::Unknown) {
    llvm::SmallVector<const Expr*, 2> rows;
    const bool whole = computedFrom(e, rows) && !rows.empty() && llvm::none_of(rows, [&](const Expr* x) { return eval(x).earlier; });
    if (!whole) problem(e, v, v.why ? v.why : what);
    else if (recording_)
      for (const Expr* x : rows) {
        if (eval(x).kind == Kind::Rows) rowCounts_.insert(rowsFactor(x));
        else reductions_[x] = Kind::Sharded;
      }
    return whole && isTensor(e->getType()) ? Kind::Whole : Kind::Uniform;
  }
  if (recording_) {
    if (batches_.inStep(e) == 0) problem(e, v, "a value of one rank's batch is used outside the step it belongs to");
    else if (isPutOff(code_.functionOf(e))) problem(e, v, "a value of one rank's batch is used in a function that is kept, and may be called when the step is over");
    else if (v.earlier) problem(e, v, "it is made from samples of an earlier batch, which had a slice of its own");
    else if (isIterator(e->getType())) problem(e, v, "it goes through tensors of this rank's rows, and what is made of them there is not followed (write a loop over the list)");
    else if (v.kind == Kind::Second) problem(e, v, "its samples run along the second dimension: rows of other ranks cannot be put behind them");
    else if (v.kind == Kind::Sharded && v.joined) problem(e, v, "its rows are those of several tensors, one behind another: the ranks' rows do not line up to those of the batch");
    else reductions_[e] = v;
  }
  // Rows of the whole batch do not fit those of this rank.
  if ((v.kind == Kind::Sharded || v.kind == Kind::Second) && isTensor(e->getType())) return Kind::Whole;
  Value number(Kind::Uniform);
  number.power = combined(v).power;
  return number;
}

Value Kinds::eval(const Expr* spelled) {
  if (!spelled) return Kind::None;
  if (const Expr* asked = askedForPresence(spelled); asked && (isStdRecord(asked->getType()) || asked->getType()->isPointerType() || !isTensor(asked->getType())))
    if (const Value v = eval(asked); v.dependsOnSamples() && v.kind != Kind::Unknown) return Kind::Uniform;
  if (const Expr* memory = alignedByHand(spelled)) return eval(memory);
  const Expr* e = strip(spelled);
  if (const auto sum = rowSums_.find(e); sum != rowSums_.end()) return sum->second;
  if (isAddress(spelled)) return Value::rankLocal(spelled, "an address of this process");
  if (batchSizes_.count(spelled) || batchSizes_.count(e)) return Kind::BatchSize;
  if (batches_.shards().count(e)) {
    llvm::SmallVector<const Expr*, 4> chosenBy = argumentsOf(e);
    if (calleeOf(e) && objectOf(e)) chosenBy.push_back(objectOf(e));  // randperm(n).slice(0, 0, size)
    for (const Expr* a : chosenBy)
      if (const Value v = eval(a); (v.kind == Kind::Unknown || v.kind == Kind::RankLocal) && recording_) problem(a, v, v.why ? v.why : "it chooses the samples of a batch");
    if (const Entry* made = recording_ && calleeOf(e) ? dialect_.lookup(e) : nullptr; made && made->shape >= 0 && hasSelectedRows(e, *made)) problem(e, Value::unknown(e, kSelectedRows), kSelectedRows);
    Value rows(batches_.liesSecond(e) ? Kind::Second : Kind::Sharded);
    rows.flat = rows.kind == Kind::Sharded && ranks_.exactly(e) == 1;
    rows.deep = rows.kind == Kind::Second && ranks_.atLeast(e) >= 3;
    return rows;
  }
  if (batches_.isTaken(e)) return Kind::Sharded;
  if (isa<IntegerLiteral>(e)) return cast<IntegerLiteral>(e)->getValue() == 0 ? Kind::Zero : Kind::Uniform;
  if (isa<FloatingLiteral>(e)) return cast<FloatingLiteral>(e)->getValue().isZero() ? Kind::Zero : Kind::Uniform;
  if (isa<CharacterLiteral, StringLiteral, CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, UnaryExprOrTypeTraitExpr, CXXThisExpr>(e))
    return Kind::Uniform;
  if (const auto* l = dyn_cast<LambdaExpr>(e)) return evalLambda(l);
  if (const auto* m = dyn_cast<MemberExpr>(e)) return evalMember(m);
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    const ValueDecl* d = declOf(r);
    if (!d || isa<FunctionDecl, EnumConstantDecl>(d)) return Kind::Uniform;
    if (threadProgress_.isRead(r)) return Value::rankLocal(r, ThreadProgress::kWhy);
    if (surroundings_->changesByItself(d)) return Value::rankLocal(r, "what a thread or a signal changes at a time of its own");
    if (const auto counted = countedOverRows(d, r)) return *counted;
    Value v = decls_.lookup(d);
    if (v.isUniform() && isParameter(d)) v.graded = true;
    if (v.mixed) v = valueAt(d, r, v);
    if (v.dependsOnSamples() && (isText(d->getType()) || isCharacters(d->getType()))) return Kind::Uniform;  // the name beside a number of the batch
    if (v.dependsOnSamples() && (isForSingles(r) || isAlikeHere(d, r))) return Kind::Uniform;
    if (recording_ && v.dependsOnSamples() && outerStepOf(d, r))
      problem(r, v, "it belongs to the batch of an outer loop, and this is a step of the inner one: their slices differ");
    if (const Expr* anew = v.dependsOnSamples() && batches_.inStep(r) == 0 ? assignedJustBefore(d, r) : nullptr) return eval(anew);
    if (const Stmt* loop = v.dependsOnSamples() ? loopThatLeaves(d, v, r) : nullptr) {
      if (recording_) leftBehind_[d] = {v, loop};
      return Kind::Uniform;  // made whole at the end of every step
    }
    if (v.kind == Kind::Sharded && (isOfEarlierStep(d, r) || isFetchedAhead(d, r))) v.earlier = true;
    if (const auto kept = numberOfEarlier(d, r, v)) return *kept;
    noteState(d, r, v);
    return sizedMention(d, r, asProgress(d, r, v));
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return evalOperator(b);
  if (const auto* u = dyn_cast<UnaryOperator>(e)) {
    if (u->isIncrementDecrementOp()) {
      countsOn(u->getSubExpr());
      if (!countedByRows_.count(declOf(strip(u->getSubExpr())))) assign(u->getSubExpr(), Kind::Uniform);
      return host(u->getSubExpr());
    }
    if (u->getOpcode() == UO_LNot || u->getOpcode() == UO_Not) return host(u->getSubExpr());
    return eval(u->getSubExpr());
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    walkCondition(c->getCond(), c);
    walkGuarded(c->getCond(), c->getTrueExpr(), c->getFalseExpr());
    const Value a = eval(c->getTrueExpr()), b = eval(c->getFalseExpr());
    meet(a, b);
    if (recording_) checkEither(a, b, e);
    if (isClipped(c->getTrueExpr(), c->getFalseExpr())) return Kind::BatchSize;  // at + batch > n ? n - at : batch
    return join(a, b);
  }
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
    host(a->getIdx());
    const Value base = eval(a->getBase());
    return itemOfNumbers(a, a->getBase(), a->getIdx()).value_or(base);
  }
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    Value v;
    bool open = false;  // a tensor that has not been looked at yet
    const Outlives kept = outlivesStep(list);
    const CXXRecordDecl* r = list->getType()->getAsCXXRecordDecl();
    unsigned i = 0;
    for (const Expr* x : list->inits()) {
      const bool field = r && r->isAggregate() && i < static_cast<unsigned>(std::distance(r->field_begin(), r->field_end()));
      const ValueDecl* d = field ? *std::next(r->field_begin(), i) : nullptr;
      const Value given = combinedFirst_.count(d) || countsBeside(list, x) ? host(x) : eval(x);
      const Value at = keptEntry(x, given, kept);
      v = join(v, at);
      open = open || (at.kind == Kind::None && isTensor(x->getType()));
      assignDecl(d, at);
      ++i;
    }
    if (open && !settled_ && v.isUniform()) return Kind::None;
    return v.kind == Kind::None ? Value(Kind::Uniform) : v;
  }
  if (calleeOf(e) || isa<CallExpr>(e)) return evalCall(e);
  Value v(Kind::Uniform);
  for (const Stmt* c : e->children())
    if (const auto* x = dyn_cast_or_null<Expr>(c)) v = join(v, eval(x));
  return v;
}

// The value that an earlier statement of the same block gives the variable, when nothing between looks at it.
const Expr* Kinds::assignedJustBefore(const ValueDecl* d, const Expr* use) const {
  const auto names = [&](const Stmt* where) {
    return llvm::any_of(definitions_.uses(d), [&](const Stmt* u) {
      for (; u && u != where; u = code_.parent(u)) {}
      return u != nullptr;
    });
  };
  const Stmt* child = use;
  for (const Stmt* p = code_.parent(use); p && !isLoop(p); child = p, p = code_.parent(p)) {
    const auto* block = dyn_cast<CompoundStmt>(p);
    if (!block) continue;
    const Expr* found = nullptr;
    for (const Stmt* s : block->body()) {
      if (s == child) break;
      if (!names(s)) continue;
      found = nullptr;
      const auto* o = isa<Expr>(s) ? dyn_cast<CXXOperatorCallExpr>(strip(cast<Expr>(s))) : nullptr;
      const bool whole = o && o->getOperator() == OO_Equal && isa<DeclRefExpr>(strip(o->getArg(0))) && declOf(o->getArg(0)) == d && !names(o->getArg(1));
      if (whole) found = o->getArg(1);
    }
    return found;
  }
  return nullptr;
}

// May control leave the statement otherwise than at its end? `own`: break and continue count.
bool Kinds::leavesEarly(const Stmt* s, bool own) const {
  if (!s || isa<LambdaExpr>(s)) return false;
  if (isa<ReturnStmt, GotoStmt>(s)) return true;
  if (own && isa<BreakStmt, ContinueStmt>(s)) return true;
  const bool inner = own && !isLoop(s) && !isa<SwitchStmt>(s);
  for (const Stmt* c : s->children())
    if (leavesEarly(c, inner)) return true;
  return false;
}

}  // namespace hvdize
