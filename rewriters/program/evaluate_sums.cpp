// SPDX-License-Identifier: Apache-2.0
// Sums that are built up term by term: within one step, and over several.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

bool Kinds::mentions(const Stmt* tree, const ValueDecl* d) const {
  return llvm::any_of(definitions_.uses(d), [&](const Stmt* use) {
    while (use && use != tree) use = code_.parent(use);
    return use != nullptr;
  });
}

// A sum over samples and a term free of samples: over all ranks the term must count once.
Value Kinds::evalAddition(const Expr* e, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const Expr*> spelled) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  for (unsigned i : {0u, 1u}) {
    const Value &sum = operands[i], &term = operands[1 - i];
    if (sum.kind != Kind::Sum || term.kind == Kind::Zero || term.kind == Kind::None || !term.isUniform()) continue;
    const bool written = 1 - i == 0 && (objectOf(e) != nullptr) && (!o || o->isAssignmentOp());  // what an assignment changes
    if (batches_.inStep(e) == 0 || (written && changesOutside(spelled[0], e))) break;
    if (recording_ && !written) shares_.insert(spelled[1 - i]);
    return sum.after(sum, term);
  }
  // A mean, and a sum that was divided by a number of the whole batch: of the mean each rank adds its share, by rows.
  for (unsigned i : {0u, 1u}) {
    const Value &sum = operands[i], &mean = operands[1 - i];
    const bool written = 1 - i == 0 && objectOf(e) != nullptr && (!o || o->isAssignmentOp());
    // A mean over counted terms has to be one over the samples for that.
    if (sum.kind == Kind::Sum && mean.kind == Kind::CountMean && sum.power == -1 && batches_.inStep(e) > 0) becomeMean(mean);
    if (sum.kind != Kind::Sum || mean.kind != Kind::Mean || written || batches_.inStep(e) == 0) continue;
    // Of a sum as it is, the gradient grows with the batch, that of the mean does not.
    if (recording_ && sum.power != -1 && sum.graded && mean.graded && !grownApart_) grownApart_ = e;
    if (recording_) shares_.insert(spelled[1 - i]);
    return sum.after(sum, mean);
  }
  meet(operands[0], operands[1]);
  return addValues(operands[0], operands[1], e);
}

// `if (boxes == 0) return cross_entropy(..); .. return sum / boxes;`: a mean in one case, and a sum that was divided by a number of the whole batch in
// another. Of the mean each rank gives its share, by rows, so that both are sums.
Value Kinds::returned(const FunctionDecl* f, const Expr* e) {
  Value v = eval(e);
  f = f->getCanonicalDecl();
  if (searched_.contains(f)) return cross(e, v, "an optimizer searches by this loss");
  const auto fit = [](const Value& mean, const Value& sum) {
    return mean.kind == Kind::Mean && sum.kind == Kind::Sum && sum.power == -1 && mean.power == 0 && !mean.earlier && !sum.earlier && !mean.carried && !sum.carried;
  };
  const auto before = returns_.find(f);
  if (isTensor(e->getType()) && before != returns_.end() && (fit(v, before->second) || fit(before->second, v)) && summedReturns_.insert(f).second) {
    changed_ = true;
    if (v.kind == Kind::Sum) before->second = v;
  }
  if (v.kind != Kind::Mean || !summedReturns_.count(f)) return v;
  if (recording_) shares_.insert(e);
  v.kind = Kind::Sum;
  v.power = -1;
  return v;
}

// A variable that holds a sum over samples in the end, but starts with a term free of samples: that term is shared out as well.
void Kinds::shareFirstTerms() {
  std::vector<const VarDecl*> sums;
  for (const auto& [d, value] : decls_)
    if (const auto* v = dyn_cast<VarDecl>(d); v && value.kind == Kind::Sum && !isa<ParmVarDecl>(v) && isTensor(v->getType())) sums.push_back(v);
  llvm::sort(sums, [](const VarDecl* a, const VarDecl* b) { return a->getLocation().getRawEncoding() < b->getLocation().getRawEncoding(); });
  for (const VarDecl* d : sums)
    for (const Definition& def : definitions_.of(d)) {
      if (!def.value || def.compound || def.through || batches_.inStep(def.value) == 0) continue;
      const Value v = eval(def.value);
      const auto* k = dyn_cast<CXXConstructExpr>(strip(def.value));
      if (v.isUniform() && v.kind != Kind::Zero && v.kind != Kind::None && !(k && argumentsOf(k).empty())) shares_.insert(def.value);
    }
}

// `total = total + x`: x is what this step adds. The rest of the sum is made of earlier steps, and whole.
void Kinds::crossAddends(const Expr* e, const ValueDecl* accumulator) {
  shares_.remove(e);
  shares_.remove(strip(e));
  e = strip(e);
  if (!mentions(e, accumulator)) return (void)cross(e, eval(e), "added up over steps");
  if (declOf(e) == accumulator) return;
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return crossAddends(c->getTrueExpr(), accumulator), crossAddends(c->getFalseExpr(), accumulator);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const OverloadedOperatorKind op = o ? o->getOperator() : OO_None;
  if (o && o->getNumArgs() == 2 && (op == OO_Plus || op == OO_Minus))
    return crossAddends(o->getArg(0), accumulator), crossAddends(o->getArg(1), accumulator);
  if (o && o->getNumArgs() == 2 && (op == OO_Star || op == OO_Slash) && mentions(o->getArg(0), accumulator) && eval(o->getArg(1)).isUniform())
    return crossAddends(o->getArg(0), accumulator);
  if (o && o->getNumArgs() == 2 && op == OO_Star && mentions(o->getArg(1), accumulator) && eval(o->getArg(0)).isUniform())
    return crossAddends(o->getArg(1), accumulator);
  problem(e, Value::unknown(e, ""), "a sum over samples is added up over steps, and what this step adds to it does not stand apart here");
}

// `loss = mse_loss(out, y); loss += 0.1 * l1_loss(out, y);` of a variable from outside: every round gives it a new value first.
bool Kinds::isNewInStep(const ValueDecl* d, const Expr* at) const {
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v || !v->isLocalVarDecl()) return false;
  for (const Stmt* p = at; p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p)) return assignedFirst(v, p);
  return false;
}

// norm->forward(x).relu_(): what a layer gives is changed, not the layer. By way of other operations, too: net->forward(x).tanh_().relu_().
// x.slice(0, i, j).to(kFloat).div_(255), x.index_select(0, rows).div_(255): this rank's rows are changed, not `x` (see partsChanged).
bool Kinds::givesNew(const Expr* object) const {
  const Expr* made = object ? strip(object) : nullptr;
  const auto* m = made ? dyn_cast_or_null<CXXMethodDecl>(calleeOf(made)) : nullptr;
  if (!m) return false;
  const Entry* entry = dialect_.lookup(made);
  const llvm::StringRef name = calleeName(made);
  const bool copied = entry && entry->role == Role::Op && entry->op == OpKind::Select && (name == "index_select" || name == "gather" || name == "masked_select" || name == "take");
  if (copied || batches_.shards().count(made)) return true;
  if (dialect_.is(made, Role::Forward) || (calleeName(made) == "forward" && dialect_.is(m->getParent(), Role::Module))) return true;
  return dialect_.is(made, Role::Op) && givesNew(objectOf(made));
}

// The numbers between the braces of a tensor that is made from several.
static llvm::SmallVector<const Expr*, 4> numbersIn(const Expr* e, const Dialect& dialect) {
  const Entry* entry = calleeOf(strip(e)) ? dialect.lookup(strip(e)) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Factory || entry->shape >= 0) return {};
  llvm::SmallVector<const Expr*, 4> out;
  const auto arguments = argumentsOf(strip(e));
  const auto look = [&](auto&& self, const Expr* x) -> bool {
    x = strip(x);
    if (const auto* l = dyn_cast<CXXStdInitializerListExpr>(x)) return self(self, l->getSubExpr());
    if (const auto* l = dyn_cast<InitListExpr>(x)) return llvm::all_of(l->inits(), [&](const Expr* i) { return self(self, i); });
    if (const auto* k = dyn_cast<CXXConstructExpr>(x); k && argumentsOf(k).size() == 1) return self(self, argumentsOf(k)[0]);
    out.push_back(x);
    return x->getType()->isArithmeticType();
  };
  return !arguments.empty() && look(look, arguments[0]) && out.size() > 1 ? out : llvm::SmallVector<const Expr*, 4>();
}

Value Kinds::evalAssignment(const Expr* e, const Entry& entry, const Value& self) {
  if (const auto written = writtenRows(e)) return *written;
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && batches_.inStep(e) > 0 && isa<DeclRefExpr, MemberExpr>(strip(o->getArg(0))) && growsByRows(declOf(strip(o->getArg(0))))) {
    const Value kept = keptWhole(o->getArg(1));
    assign(o->getArg(0), kept);
    return kept;
  }
  Value result = evalArithmetic(e, entry, self);
  const auto arguments = argumentsOf(e);
  const Expr* object = behindViews(objectOf(e) ? objectOf(e) : arguments.empty() ? nullptr : arguments[0]);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool assigns = o && o->getOperator() == OO_Equal;
  const bool copies = !o && (calleeName(e) == "copy_" || calleeName(e) == "fill_" || calleeName(e) == "set_data");
  if (givesNew(object)) return result;
  // Through a view of one sample the batch itself changes, and this rank's sample is not the one that the program means.
  const bool named = object && isa<DeclRefExpr, MemberExpr>(strip(object));
  if (self.kind == Kind::Unknown && !(assigns && named) && batches_.inStep(e) > 0) problem(e, self, self.why ? self.why : "changed here");
  const ValueDecl* d = object ? rootOf(object) : nullptr;
  const bool number = result.dependsOnSamples() && result.kind != Kind::Sharded && result.kind != Kind::Second;
  const bool outside = number && object && !arguments.empty() && declaredOutsideStep(object, e);
  // Under another name: a reference to an item of a container, a view of a tensor, a parameter. What it names must get what is whole.
  const bool alias = number && !outside && object && !arguments.empty() && (!assigns || assignsThrough(object)) && changesOutside(object, e);
  const bool keeps = (outside || alias) && !isNewInStep(d, e);
  // What is kept without gradients, as running means are, is a number like any other.
  const Value given = keeps ? eval(arguments[0]) : Value();
  // totals[1] += x.size(0): the rows of the whole batch. totals += tensor({sum, rows}): each number by itself.
  const auto whole = [&](const char* what) -> Value {
    const auto numbers = given.dependsOnSamples() ? numbersIn(arguments[0], dialect_) : llvm::SmallVector<const Expr*, 4>();
    for (const Expr* x : numbers) host(x);
    if (!numbers.empty()) return Kind::Uniform;
    return given.kind == Kind::Rows ? host(strip(arguments[0])) : cross(arguments[0], given, what);
  };
  const bool carries = (given.graded || given.carried) && !withoutGradients(e);
  if (keeps && alias && (assigns || copies)) {
    result = whole("kept");
    result.carried = carries;
  } else if (keeps && o && o->isAssignmentOp() && !assigns) {
    result = whole("added up over steps");
    result.carried = carries;
  } else if (keeps && !o && !copies) {
    result = whole("added up over steps");
    result.carried = carries;
  } else if (keeps && (assigns || copies) && d && batches_.inStep(e) > 0 && (isCarriedOn(d, e, arguments[0]) || (!carries && result.kind != Kind::Unknown && ((copies && isa<FieldDecl>(d)) || !named || inSomeSteps(e) || isReadElsewhere(d, e))))) {
    if (result.kind == Kind::Sum && recording_) crossAddends(arguments[0], d);
    else if (result.kind != Kind::Sum) cross(arguments[0], result, "carried on from step to step");
    result = Kind::Uniform;
    result.carried = carries;
  } else if (assigns && named && result.kind == Kind::Sharded && !result.joined && !result.earlier && isTensor(object->getType()) && keepsSome(d, e)) {
    cross(arguments[0], result, "kept");
    result = Kind::Uniform;
  }
  // slot() = h.mean(0): who reads what the function refers to is not followed.
  const bool referred = assigns && !d && object && result.dependsOnSamples() && batches_.inStep(e) > 0 && isa<CallExpr>(strip(object)) && !code_.targets(strip(object)).empty();
  if (referred) problem(e, result, "what a function refers to is given a value of the batch, and who reads it later is not followed (assign to the variable itself)");
  if (object) assign(object, result.kind == Kind::Zero ? Value(Kind::Uniform) : result);
  return result;
}

// Is what a step gives the variable read or changed in a later one? The rows of that batch say nothing about it.
bool Kinds::isReadLater(const ValueDecl* d) const {
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    if (batches_.inStep(use) == 0) return false;
    if (isOfEarlierStep(d, use) || findFetchedAhead(d, use, true)) return true;
    const auto* v = dyn_cast<VarDecl>(d);
    if (v && !v->hasGlobalStorage() && !v->isInitCapture()) return false;
    // value_.mul_(decay).add_(x): of a member, what was there before is changed.
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    const Entry* entry = call && calleeOf(call) && objectOf(call) && declOf(objectOf(call)) == d ? dialect_.lookup(call) : nullptr;
    return entry && entry->role == Role::Op && entry->op == OpKind::Assign && calleeOf(call)->getOverloadedOperator() != OO_Equal && calleeName(call) != "copy_" && calleeName(call) != "fill_" && calleeName(call) != "zero_";
  });
}

// Do only some steps come by here: `if (!ready) mean = x.mean(0);`? What the others find was made of another batch.
bool Kinds::inSomeSteps(const Stmt* s, unsigned depth) const {
  if (depth > 4) return true;
  const SourceManager& sm = code_.context().getSourceManager();
  for (const Stmt *below = s, *p = code_.parent(s); p; below = p, p = code_.parent(p)) {
    if (isLoop(p) && batches_.isStepLoop(p)) return false;
    if (isa<IfStmt, ConditionalOperator, SwitchStmt>(p)) return true;
    const auto* block = dyn_cast<CompoundStmt>(p);
    const auto leaves = [&](const Stmt* before) { return before != below && sm.isBeforeInTranslationUnit(before->getBeginLoc(), below->getBeginLoc()) && leavesEarly(before, true); };
    if (block && llvm::any_of(block->body(), leaves)) return true;
  }
  const FunctionDecl* f = code_.functionOf(s);
  return f && llvm::any_of(code_.callers(f), [&](const CallSite& c) { return batches_.inStep(c.call) > 0 && inSomeSteps(c.call, depth + 1); });
}

// Is the member read in steps by another function than the one that sets it? It may be called before.
bool Kinds::isReadElsewhere(const ValueDecl* d, const Expr* assignment) const {
  const FunctionDecl* here = code_.functionOf(assignment);
  return isa<FieldDecl>(d) && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return batches_.inStep(use) > 0 && code_.functionOf(use) != here; });
}

// mean.data(), mean.detach(): what is changed there is `mean`.
const Expr* Kinds::behindViews(const Expr* object) const {
  while (object) {
    const auto* call = dyn_cast<CXXMemberCallExpr>(strip(object));
    const Expr* of = call && argumentsOf(call).empty() && dialect_.is(call->getType(), Role::Tensor) ? objectOf(call) : nullptr;
    if (!of || !dialect_.is(of->getType().getNonReferenceType(), Role::Tensor) || !llvm::is_contained({"data", "detach", "variable_data", "tensor_data"}, calleeName(call))) break;
    object = of;
  }
  return object;
}

// Does the new value contain the one before, of an earlier step?
bool Kinds::isCarriedOn(const ValueDecl* d, const Expr* assignment, const Expr* value) const {
  if (!mentions(value, d)) return isReadLater(d);
  for (const Stmt* p = assignment; p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p)) return !assignedFirst(d, p);
  return true;
}

// A value of the batch of one loop, used in a step of another loop that runs inside: the loop of the first. Null where there is none.
const Stmt* Kinds::outerStepOf(const ValueDecl* d, const Expr* use) const {
  const auto around = [&](const Stmt* s) -> const Stmt* {
    for (const Stmt* inner : nestedSteps_)
      if (batches_.inBody(s, inner)) return inner;
    return nullptr;
  };
  const Stmt* inner = nestedSteps_.empty() ? nullptr : around(use);
  const auto* v = dyn_cast<VarDecl>(d);
  if (!inner || !v || (code_.declStmt(v) && batches_.inBody(code_.declStmt(v), inner))) return nullptr;
  for (const LoaderLoop& l : batches_.loaderLoops()) {
    if (l.loop == inner && l.variable == d) return nullptr;
    if (l.loop != inner && l.variable == d) return l.loop;
  }
  for (const Definition& def : definitions_.of(d)) {
    const auto* empty = def.value ? dyn_cast<CXXConstructExpr>(strip(def.value)) : nullptr;  // `Tensor last;` has no samples yet
    if (def.value && !(empty && empty->getNumArgs() == 0) && around(def.value) != inner && batches_.inStep(def.value) > 0) return inner;
  }
  return nullptr;
}

}  // namespace hvdize
