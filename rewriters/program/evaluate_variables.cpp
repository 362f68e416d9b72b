// SPDX-License-Identifier: Apache-2.0
// Kinds of variables that one kind for all their uses does not describe; of fields and captures.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Where the framework seeds its stream from entropy, each process has drawn other numbers by the time its session opens.
Value Kinds::beforeMain(const VarDecl* v, const Value& given) const {
  bool drawn = false;
  if (dialect_.ownStepDraws() && isTensor(v->getType()))
    forEachExpr(v->getInit(), [&](const Expr* x) { drawn = drawn || (calleeOf(x) && dialect_.is(x, Role::RandomDraw)); });
  return drawn ? Value::rankLocal(v->getInit(), "it is drawn before main begins, on each rank from a stream of its own") : given;
}

// A tensor of the author's own that gradients are collected for: `auto w = randn({5}, requires_grad())`.
bool Kinds::isParameter(const ValueDecl* d) {
  if (!isTensor(d->getType())) return false;
  const auto [it, fresh] = parameters_.try_emplace(d, false);
  if (!fresh) return it->second;
  return parameters_[d] = collectsGradients(d, code_, definitions_, dialect_);
}

// `x = x.transpose(0, 1)`: of a variable whose samples run along different dimensions, the value at `use`.
Value Kinds::valueAt(const ValueDecl* d, const Expr* use, const Value& any) {
  const auto* variable = dyn_cast<VarDecl>(d);
  if (!variable || (any.isUniform() && !d->getType()->isArithmeticType())) return any;
  if (!open_.insert(use).second) return {};
  bool start = false;
  Value v = any;
  if (const auto values = ranks_.reaching(variable, use, start)) {
    v = start ? atStart_.lookup(cast<ParmVarDecl>(variable)) : Value();
    const Expr* const* guarded = llvm::find_if(*values, [&](const Expr* x) { return isGuardedQuotient(x); });
    const int power = guarded != values->end() ? eval(*guarded).power : 0;
    for (const Expr* x : *values) {
      Value one = eval(x);
      if (guarded != values->end() && one.kind == Kind::Sum) one.power = power;
      v = join(v, one);
    }
    if (v.kind == Kind::None && any.isUniform() && open_.size() == 1) v = any;
  }
  open_.erase(use);
  return v;
}

// `if (at == 0) first = x.clone();` in front of the mention: does the variable get its value there in some rounds of the loop only? Not where the other branch
// gives it one too, or leaves the round.
bool Kinds::inSomeRounds(const ValueDecl* d, const Expr* value, const Expr* mention, const Stmt* step) const {
  const auto gives = [&](const Stmt* branch) { return llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && isWithin(code_, def.value, branch); }); };
  const auto leaves = [](const Stmt* branch) {
    const auto* block = dyn_cast<CompoundStmt>(branch);
    const Stmt* last = block ? (block->body_empty() ? nullptr : block->body_back()) : branch;
    if (const auto* e = dyn_cast_or_null<Expr>(last)) last = e->IgnoreImplicit();
    return isa_and_nonnull<BreakStmt, ContinueStmt, ReturnStmt, GotoStmt, CXXThrowExpr>(last);
  };
  for (const Stmt *p = value, *below = nullptr; p && p != step; below = p, p = code_.parent(p)) {
    const auto* i = dyn_cast<IfStmt>(p);
    if (!i || (below != i->getThen() && below != i->getElse()) || isWithin(code_, mention, i)) continue;
    const Stmt* other = below == i->getThen() ? i->getElse() : i->getThen();
    if (!other || (!gives(other) && !leaves(other))) return true;
  }
  return false;
}

// Is this a read of what the step before has left: all that gives the tensor a value in a step comes after it?
bool Kinds::isOfEarlierStep(const ValueDecl* d, const Expr* mention) const {
  const CXXRecordDecl* type = d->getType()->getAsCXXRecordDecl();
  const bool held = type && type->isInStdNamespace() && type->getIdentifier() && type->getName() == "optional";
  if (!(isTensor(d->getType()) || held || dialect_.is(d->getType(), Role::Batch)) || d->getType()->isReferenceType() || isa<ParmVarDecl>(d) || batches_.inStep(mention) != 2 || !declaredOutsideStep(mention, mention)) return false;
  const Stmt* p = code_.parent(mention);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == mention) return false;  // it is given a value here
  const SourceManager& sm = code_.context().getSourceManager();
  const FunctionDecl* here = code_.functionOf(mention);
  const Stmt* step = mention;
  while (step && !(isLoop(step) && batches_.isStepLoop(step))) step = code_.parent(step);
  bool after = false;
  for (const Definition& def : definitions_.of(d)) {
    if (!def.value || batches_.inStep(def.value) == 0) continue;
    if (code_.functionOf(def.value) != here || !step || !isWithin(code_, def.value, step)) return false;
    if (isWithin(code_, mention, def.value)) continue;  // data = cat({data, batch})
    // In the other branch of an `if` it does not come before.
    bool other = false;
    for (const Stmt *p = def.value, *below = nullptr; p && !other; below = p, p = code_.parent(p))
      if (const auto* i = dyn_cast<IfStmt>(p); i && isWithin(code_, mention, i)) other = below == i->getThen() && i->getElse() && isWithin(code_, mention, i->getElse());
    if (!other && sm.isBeforeInTranslationUnit(def.value->getBeginLoc(), mention->getBeginLoc()) && !inSomeRounds(d, def.value, mention, step)) return false;
    after = after || !other;
  }
  return after || llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && isWithin(code_, mention, def.value); });
}

// later.push_back([=] { sum += loss.item(); }): a lambda that goes into a container from outside the step.
bool Kinds::isPutOff(const FunctionDecl* f) const {
  const Function* known = code_.find(f);
  if (!known || !known->lambda || !code_.callers(f).empty()) return false;
  const Stmt* p = code_.parent(known->lambda);
  while (isa_and_nonnull<ImplicitCastExpr, CXXConstructExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, CXXFunctionalCastExpr, ExprWithCleanups, ParenExpr>(p)) p = code_.parent(p);
  const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
  const Expr* object = call ? objectOf(call) : nullptr;
  const llvm::StringRef name = call ? calleeName(call) : "";
  return object && isStdRecord(object->getType()) && (name.starts_with("push") || name.starts_with("emplace") || name == "insert") && declaredOutsideStep(object, known->lambda);
}

Value Kinds::evalLambda(const LambdaExpr* l) {
  for (const LambdaCapture& c : l->captures())
    if (c.capturesVariable() && c.getCapturedVar()->isInitCapture())
      if (const auto* v = dyn_cast<VarDecl>(c.getCapturedVar())) assignDecl(v, eval(v->getInit()));
  return Kind::Uniform;
}

// The variable of a loop over a loader.
bool Kinds::isLoaderBatch(const Expr* e) const {
  const ValueDecl* d = declOf(strip(e));
  return d && llvm::any_of(batches_.loaderLoops(), [&](const LoaderLoop& l) { return l.variable == d && isa<CXXForRangeStmt>(l.loop); });
}

// The field of a batch that a function of the author's has made of a list of samples. Nothing where that function does not give it a value, or gives it
// what belongs to no sample: the weights of the classes have no rows.
std::optional<Value> Kinds::collated(const MemberExpr* m, const Value& base, const Value& field) const {
  const ValueDecl* d = m->getMemberDecl();
  const Collated what = collations_->of(d);
  if (base.kind == Kind::Sharded && what == Collated::Alike && field.kind == Kind::None) return Kind::Uniform;
  if (base.kind != Kind::Sharded || what == Collated::No || what == Collated::Alike || !(field.isUniform() || isLoaderBatch(m->getBase()))) return std::nullopt;
  if (what == Collated::Unclear) return Value::unknown(collations_->maker(d), "it is made of the samples of a batch, and that it has one row for each of them is not seen");
  if (what == Collated::Count) return Kind::Rows;
  Value v = base;
  v.thin = what == Collated::Rows;
  v.listed = what == Collated::List;
  return v;
}

Value Kinds::evalMember(const MemberExpr* m) {
  const ValueDecl* d = m->getMemberDecl();
  if (isa<FunctionDecl>(d)) return eval(m->getBase());
  if (const Entry* entry = dialect_.lookup(d); entry && entry->role == Role::BatchSizeRead && isSizeOfTraining(m)) return Kind::BatchSize;
  const Value base = eval(m->getBase());
  const bool author = code_.files().contains(d->getLocation());
  if (threadProgress_.isRead(m)) return Value::rankLocal(m, ThreadProgress::kWhy);
  if (surroundings_->changesByItself(d)) return Value::rankLocal(m, "what a thread or a signal changes at a time of its own");
  if (!author && isStdRecord(m->getBase()->getType()) && d->getDeclName().isIdentifier() && (d->getName() == "first" || d->getName() == "second"))
    return partOf(m->getBase(), d->getName() == "first" ? 0 : 1, m);
  if (!author && base.kind == Kind::Sharded && dialect_.is(m->getBase()->getType(), Role::Batch) && d->getName() == "target") {
    Value target = base;
    target.thin = true;  // numbers of classes, or of another shape
    return target;
  }
  if (!author) return base;  // .data of a batch
  const Value field = decls_.lookup(d);
  if (const auto rows = collated(m, base, field)) return *rows;
  // Nobody here has given the field a value: it came with the whole, from a function that is not visible.
  if (field.kind == Kind::None && !settled_ && base.isUniform() && (d->getType()->isArithmeticType() || isTensor(d->getType()))) return {};  // what gives it a value may come later
  if (field.kind == Kind::None) return base.dependsOnSamples() || base.kind == Kind::Whole ? base : Value(Kind::Uniform);
  Value v = field;
  if (v.isUniform() && isParameter(d)) v.graded = true;
  if (v.kind == Kind::Sharded && ((base.kind == Kind::Sharded && base.earlier) || isFetchedAhead(d, m))) v.earlier = true;
  if (v.dependsOnSamples() && !m->isArrow() && holdsAlike(m->getBase())) return Kind::Uniform;
  if (const auto kept = numberOfEarlier(d, m, v)) return *kept;
  noteState(d, m, v);
  v = withoutDefault(d, m, v);
  return sizedMention(d, m, asProgress(d, m, v));
}

// `rows[j][k] = x`, `*p = x` into the memory of this rank's samples: which of them the program means is not known.
void Kinds::writtenThrough(const Expr* target) {
  target = strip(target);
  if (isa<DeclRefExpr, MemberExpr>(target) || batches_.inStep(target) == 0) return;
  if (const Value at = eval(target); at.kind == Kind::Unknown) problem(target, at, at.why ? at.why : "written here");
}

// A tensor that a step leaves behind and that is read after the loop (the loss or the images of the last batch), outside of all steps or in the step of
// a loop around it: the loop at the end of whose body it can be made whole. Null where that is not the case: it is then a value outside of its step.
const Stmt* Kinds::loopThatLeaves(const ValueDecl* d, const Value& v, const Expr* use) const {
  const bool combines = v.kind == Kind::Mean || v.kind == Kind::Max || v.kind == Kind::Min || (v.kind == Kind::Sharded && !v.joined);
  if (!combines || !isa<VarDecl>(d) || !isTensor(d->getType()) || d->getType()->isReferenceType()) return nullptr;
  if (batches_.inStep(use) != 0 && (nestedSteps_.empty() || code_.functionOf(use) != dyn_cast<FunctionDecl>(d->getDeclContext()))) return nullptr;
  const auto stepAround = [&](const Stmt* s) -> const Stmt* {
    for (; s; s = code_.parent(s))
      if (isLoop(s) && batches_.isStepLoop(s)) return s;
    return nullptr;
  };
  const Stmt* loop = nullptr;
  for (const Definition& def : definitions_.of(d)) {
    if (!def.value || batches_.inStep(def.value) == 0) continue;
    const auto* empty = dyn_cast<CXXConstructExpr>(strip(def.value));
    if (empty && empty->getNumArgs() == 0) continue;
    const Stmt* around = stepAround(def.value);
    if (!around || (loop && loop != around)) return nullptr;
    // Rows are gathered once in every step: they must be this step's.
    const Stmt* statement = def.value;
    while (statement && code_.parent(statement) != loopBody(around)) statement = code_.parent(statement);
    if (v.kind == Kind::Sharded && !isa_and_nonnull<Expr>(statement)) return nullptr;
    loop = around;
  }
  const auto* home = dyn_cast<VarDecl>(d);
  if (loop && batches_.inStep(use) != 0 && (!llvm::is_contained(nestedSteps_, loop) || batches_.inBody(use, loop) || !stepAround(use))) return nullptr;
  if (!loop || !code_.declStmt(home) || batches_.inBody(code_.declStmt(home), loop) || !isa<CompoundStmt>(loopBody(loop))) return nullptr;
  return leavesEarly(loopBody(loop), true) ? nullptr : loop;
}

}  // namespace hvdize
