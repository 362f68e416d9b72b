// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/training_calls.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

static bool isPlain(const Stmt* s) {
  return isa_and_nonnull<ParenExpr, CastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups, InitListExpr, CXXStdInitializerListExpr, MemberExpr, UnaryOperator,
                         ConstantExpr, CXXDefaultArgExpr>(s);
}

TrainingCalls::TrainingCalls(const Sites& sites, const Definitions& definitions, const Batches& batches)
    : code_(sites.code()), sites_(sites), definitions_(definitions), batches_(batches) {
  for (const Root& r : code_.roots()) {
    if (const auto* field = dyn_cast_or_null<FieldDecl>(r.initialises)) begun_[r.code] = field;
    forEachExpr(r.code, [&](const Expr* e) {
      const auto* named = dyn_cast<DeclRefExpr>(e);
      const auto* b = named ? dyn_cast<BindingDecl>(named->getDecl()) : nullptr;
      const auto* field = b && b->getBinding() ? dyn_cast<MemberExpr>(strip(b->getBinding())) : nullptr;
      if (field) bound_[field->getMemberDecl()].push_back(e);
    });
  }
}

// Sets{Loader(x, y, 8), Loader(u, v, 16)}: the member that gets the object.
const FieldDecl* TrainingCalls::memberMadeOf(const Stmt* part, const InitListExpr* list) const {
  const RecordDecl* r = list->getType()->getAsRecordDecl();
  const auto* c = dyn_cast_or_null<CXXRecordDecl>(r);
  if (!r || r->isUnion() || isSystemDecl(r) || (c && c->getNumBases() > 0)) return nullptr;
  unsigned i = 0;
  for (const FieldDecl* f : r->fields()) {
    if (f->isUnnamedBitField()) continue;
    if (i < list->getNumInits() && list->getInit(i) == part) return f->getType()->isArithmeticType() ? nullptr : f;
    ++i;
  }
  return nullptr;
}

// `while (source.next(x, y))`: what a step works with is made in the head of its loop.
const Stmt* TrainingCalls::stepHeadedBy(const Stmt* s) const {
  for (const Stmt *below = s, *p = code_.parent(s); p; below = p, p = code_.parent(p))
    if (isLoop(p)) return below != loopBody(p) && batches_.isStepLoop(p) ? p : nullptr;
  return nullptr;
}

// In a loop that trains, whether it does by itself or is called by one. What a loop around that does otherwise is no concern of this value's.
bool TrainingCalls::trainsAround(const Expr* value, const Assumed& assumed) const {
  if (const Stmt* loop = stepHeadedBy(value); loop && loopTrains(loop, assumed)) return true;
  if (batches_.inStep(value) == 0) return false;
  bool around = false, trains = false;
  for (const Stmt* l : sites_.loopsAround(value)) {
    if (!batches_.isStepLoop(l)) continue;
    around = true;
    trains = trains || loopTrains(l, assumed);
  }
  return trains || !around;
}

bool TrainingCalls::loopTrains(const Stmt* loop, const Assumed& assumed) const {
  const bool trains = run(loop, assumed).trains;
  if (trains && reached_) reached_->insert(loop);
  return trains;
}

// A call that hands the value to a function which trains: its loops are those that get it.
bool TrainingCalls::callTrainsWith(const Expr* call, const Assumed& assumed) const {
  const bool trains = callTrains(call, assumed, 0);
  if (trains && reached_)
    for (const FunctionDecl* f : code_.targets(call))
      if (const Function* known = code_.find(f))
        forEachExpr(known->body, [&](const Expr* e) {
          for (const Stmt* l : sites_.loopsAround(e))
            if (sites_.reaches(l, Role::Backward)) reached_->insert(l);
        });
  return trains;
}

bool TrainingCalls::mayTrainWith(const Expr* value, const Assumed& assumed) const {
  Seen seen;
  return follow(value, assumed, seen);
}

bool TrainingCalls::isReadByBoth(const ValueDecl* d) const {
  // Whether steps come to it, and whether something else does.
  const auto visit = [&](auto&& self, const Expr* at, llvm::DenseSet<const FunctionDecl*>& seen) -> std::pair<bool, bool> {
    for (const Stmt *below = at, *p = code_.parent(at); p; below = p, p = code_.parent(p))
      if (isLoop(p) && batches_.isStepLoop(p) && (below == loopBody(p) || stepHeadedBy(at) == p)) return {true, false};
    const FunctionDecl* f = code_.functionOf(at);
    if (!f || !seen.insert(f->getCanonicalDecl()).second) return {false, false};
    std::pair<bool, bool> both{false, false};
    for (const CallSite& c : code_.callers(f)) {
      const auto* call = dyn_cast<Expr>(c.call);
      const auto place = call ? self(self, call, seen) : std::pair(false, true);
      both = {both.first || place.first, both.second || place.second};
    }
    return code_.callers(f).empty() ? std::pair(false, true) : both;
  };
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    llvm::DenseSet<const FunctionDecl*> seen;
    const auto [steps, others] = visit(visit, use, seen);
    return steps && others;
  });
}

bool TrainingCalls::onlyLoadersGet(const ValueDecl* d) const {
  return llvm::all_of(definitions_.uses(d), [&](const Expr* use) {
    const Stmt* child = use;
    for (const Stmt* p = code_.parent(use); isa_and_nonnull<Expr>(p); child = p, p = code_.parent(p)) {
      const Entry* entry = sites_.dialect().lookup(cast<Expr>(p));
      if (entry && entry->role == Role::MakeLoader) return true;
      const auto* b = dyn_cast<BinaryOperator>(p);
      if (b && b->getOpcode() == BO_Assign && b->getLHS() == child) return true;
    }
    return false;
  });
}

bool TrainingCalls::followUses(const ValueDecl* d, const Assumed& assumed, Seen& seen) const {
  // auto [train, test] = make_loaders(8): any of the parts may be the one, and those of an object are its members under other names.
  if (const auto* parts = dyn_cast<DecompositionDecl>(d))
    if (llvm::any_of(parts->bindings(), [&](const BindingDecl* b) { return followUses(b->getHoldingVar() ? b->getHoldingVar() : static_cast<const ValueDecl*>(b), assumed, seen); })) return true;
  const auto yes = [&](const Expr* use) { return follow(use, assumed, seen); };
  const auto bound = bound_.find(d);
  return llvm::any_of(definitions_.uses(d), yes) || (bound != bound_.end() && llvm::any_of(bound->second, yes));
}

// fit(net, optimizer, *train, *held): does the function train with what it gets there, or only evaluate? An object or a number is not followed.
bool TrainingCalls::trainsWithArgument(const Expr* call, const Stmt* part, const Assumed& assumed, Seen& seen) const {
  const auto arguments = argumentsOf(call);
  const auto targets = code_.targets(call);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (!isWithin(code_, part, arguments[i])) continue;
    return llvm::any_of(targets, [&](const FunctionDecl* f) {
      const ParmVarDecl* p = i < f->getNumParams() ? f->getParamDecl(i) : nullptr;
      return !p || p->getType()->isArithmeticType() || definitions_.uses(p).empty() || followUses(p, assumed, seen);
    });
  }
  return true;
}

// Nothing: what the call gives is made of the value, and is to be followed.
std::optional<bool> TrainingCalls::followCall(const Expr* call, const Stmt* part, const Assumed& assumed, Seen& seen) const {
  const auto targets = code_.targets(call);
  bool whole = false;
  for (const FunctionDecl* f : targets) whole = whole || sites_.functionReaches(f, Role::Backward);
  // update(loss), in a loop that is seen not to train now: it is not come to.
  if (whole && llvm::any_of(sites_.loopsAround(call), [&](const Stmt* l) { return batches_.isStepLoop(l) && !run(l, assumed).trains; })) return false;
  if (whole && !isa<CXXConstructExpr>(call)) return callTrainsWith(call, assumed) && trainsWithArgument(call, part, assumed, seen);
  const Expr* object = objectOf(call);
  const ValueDecl* keeper = object && !isWithin(code_, part, object) ? rootOf(object) : nullptr;
  // set.loader(made), list.push_back(made): the object has it from now on. A model that a batch goes through does not keep it.
  const auto isModel = [&](QualType t) { return sites_.dialect().is(t, Role::Module) || sites_.dialect().is(t, Role::Holder); };
  if (keeper && !isModel(object->getType().getNonReferenceType()) && mayChange(calleeOf(call)) && followUses(keeper, assumed, seen)) return true;
  const auto arguments = argumentsOf(call);
  // Trainer(train, held) : train_(train), held_(held): what the constructor does with it.
  if (isa<CXXConstructExpr>(call)) {
    const FunctionDecl* f = targets.size() == 1 ? targets[0] : nullptr;
    for (unsigned i = 0; f && i < arguments.size() && i < f->getNumParams(); ++i)
      if (const ParmVarDecl* p = f->getParamDecl(i); isWithin(code_, part, arguments[i]) && !p->getType().getNonReferenceType()->isArithmeticType() && !definitions_.uses(p).empty()) return followUses(p, assumed, seen);
    return std::nullopt;
  }
  for (const FunctionDecl* f : targets)
    for (unsigned i = 0; i < arguments.size() && i < f->getNumParams(); ++i)
      if (isWithin(code_, part, arguments[i]) && !f->getParamDecl(i)->getType()->isArithmeticType() && followUses(f->getParamDecl(i), assumed, seen)) return true;
  return std::nullopt;
}

bool TrainingCalls::follow(const Expr* value, const Assumed& assumed, Seen& seen) const {
  if (!seen.insert(value).second) return false;
  if (trainsAround(value, assumed)) return true;
  const Stmt* below = value;
  for (const Stmt* p = code_.parent(value);; below = p, p = code_.parent(p)) {
    if (const VarDecl* v = code_.variableInitialisedBy(below)) {
      for (const Stmt* loop = p; loop && isa<DeclStmt>(p); loop = code_.parent(loop))
        if (isa<CXXForRangeStmt>(loop) && v->isImplicit()) return loopTrains(loop, assumed) || followUses(cast<CXXForRangeStmt>(loop)->getLoopVariable(), assumed, seen);
      return followUses(v, assumed, seen);
    }
    if (!p) {
      const FieldDecl* field = begun_.lookup(below);
      return !field || field->getType()->isArithmeticType() || followUses(field, assumed, seen);  // or a default argument
    }
    if (const auto* loop = dyn_cast<CXXForRangeStmt>(p)) return loopTrains(loop, assumed) || followUses(loop->getLoopVariable(), assumed, seen);
    if (isa<ReturnStmt>(p)) {
      const FunctionDecl* f = code_.functionOf(value);
      const auto callers = f ? code_.callers(f) : llvm::ArrayRef<CallSite>();
      return callers.empty() || llvm::any_of(callers, [&](const CallSite& c) { return follow(c.call, assumed, seen); });
    }
    if (const auto* b = dyn_cast<BinaryOperator>(p)) {
      const ValueDecl* d = b->isAssignmentOp() && below == b->getRHS() ? rootOf(b->getLHS()) : nullptr;
      if (d) return followUses(d, assumed, seen);
      continue;
    }
    if (const auto* list = dyn_cast<InitListExpr>(p))
      if (const FieldDecl* member = memberMadeOf(below, list)) return followUses(member, assumed, seen);
    if (isPlain(p) || isa<ConditionalOperator>(p)) continue;
    if (isa<LambdaExpr>(p) && isa<DeclRefExpr>(strip(value))) return false;  // captured: what the lambda does with it is another use
    const auto* call = dyn_cast<Expr>(p);
    if (call && calleeOf(call)) {
      const auto* assign = dyn_cast<CXXOperatorCallExpr>(call);
      if (assign && assign->isAssignmentOp() && assign->getNumArgs() == 2 && below == assign->getArg(1))
        if (const ValueDecl* d = rootOf(assign->getArg(0))) return followUses(d, assumed, seen);
      if (const auto known = followCall(call, below, assumed, seen)) return *known;
      continue;
    }
    if (call) return true;
    return false;  // a statement of its own, a condition
  }
}

}  // namespace hvdize
