// SPDX-License-Identifier: Apache-2.0
// Values that the step before has left: batches fetched ahead, in pairs, structs and lists, and by objects that keep the next one.
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kMostCalls = 5;  // from function to function

// Does control go from the one to the other, in one round, only if a condition holds that does not decide on the other?
bool inOtherBranch(const AuthorCode& code, const Stmt* a, const Stmt* b) {
  for (const Stmt *p = a, *below = nullptr; p; below = p, p = code.parent(p))
    if (const auto* i = dyn_cast<IfStmt>(p); i && isWithin(code, b, i))
      return below && (below == i->getThen() || below == i->getElse()) && !isWithin(code, b, below);
  return false;
}

}  // namespace

// A batch in a pair, a tuple, a list, behind a pointer, or in a class of the author's.
bool Kinds::holdsBatch(QualType t, unsigned depth) const {
  t = t.getNonReferenceType();
  if (isTensor(t) || dialect_.is(t, Role::Batch)) return true;
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  r = r ? r->getDefinition() : nullptr;
  if (!r || depth > kMostCalls || dialect_.is(r, Role::Module)) return false;
  if (const auto* c = dyn_cast<ClassTemplateSpecializationDecl>(r); c && isStdRecord(t) && c->getName() != "function") {
    const auto holds = [&](const TemplateArgument& a) { return a.getKind() == TemplateArgument::Type && holdsBatch(a.getAsType(), depth + 1); };
    return llvm::any_of(c->getTemplateArgs().asArray(), [&](const TemplateArgument& a) { return a.getKind() == TemplateArgument::Pack ? llvm::any_of(a.pack_elements(), holds) : holds(a); });
  }
  return code_.files().contains(r->getLocation()) && llvm::any_of(r->fields(), [&](const FieldDecl* f) { return holdsBatch(f->getType(), depth + 1); });
}

// The author's functions that a call runs, through the holder of a module, too.
llvm::SmallVector<const FunctionDecl*, 2> Kinds::runBy(const Expr* call) const {
  const auto run = run_.find(call);
  return run == run_.end() ? code_.targets(call) : run->second;
}

// May a call of `f`, or what it calls, give the value?
bool Kinds::leadsTo(const FunctionDecl* f, const Stmt* value, llvm::DenseSet<const FunctionDecl*>& seen) const {
  const Function* known = f ? code_.find(f) : nullptr;
  if (!known || !seen.insert(f->getCanonicalDecl()).second) return false;
  if (code_.functionOf(value) && code_.functionOf(value)->getCanonicalDecl() == f->getCanonicalDecl()) return true;
  bool leads = false;
  forEachExpr(known->body, [&](const Expr* x) {
    if (leads || !calleeOf(x)) return;
    leads = llvm::any_of(runBy(x), [&](const FunctionDecl* g) { return leadsTo(g, value, seen); });
  });
  return leads;
}

// `next = std::async([&] { return data.fetch(i + 1); });` into a variable from outside the step: what it gives comes in a later round.
bool Kinds::isPutOffTo(const Stmt* lambda) const {
  const Expr* call = nullptr;
  for (const Stmt* p = code_.parent(lambda); p && isa<Expr>(p); p = code_.parent(p)) {
    const auto* e = cast<Expr>(p);
    if (const FunctionDecl* f = calleeOf(e); f && f->isInStdNamespace() && calleeName(e) == "async") call = e;
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (call && o && o->getOperator() == OO_Equal) return declaredOutsideStep(o->getArg(0), o);
  }
  return false;
}

// Where, seen from `use` in its function, the value is given in a round of the step: in front of it, behind it, or neither.
Kinds::Given Kinds::givenAround(const ValueDecl* d, const Expr* use, const Stmt* value) const {
  const FunctionDecl* here = code_.functionOf(use);
  const Function* known = here ? code_.find(here) : nullptr;
  if (!known) return Given::Elsewhere;
  const Stmt* step = use;
  while (step && !(isLoop(step) && batches_.isStepLoop(step))) step = code_.parent(step);
  const SourceManager& sm = code_.context().getSourceManager();
  Given found = Given::Elsewhere;
  const auto* counted = dyn_cast_or_null<ForStmt>(step);
  const auto see = [&](const Stmt* at) {
    if (found == Given::Before) return;
    const bool comesLast = isWithin(code_, use, at) || (isa<LambdaExpr>(at) && isPutOffTo(at)) || (counted && counted->getInc() && isWithin(code_, at, counted->getInc()));  // for (..; ..; batches.next())
    const bool before = isWithin(code_, at, use) ? at != use : !comesLast && sm.isBeforeInTranslationUnit(at->getBeginLoc(), use->getBeginLoc()) && !inOtherBranch(code_, at, use);  // step(batch).loss is given in it
    found = before ? Given::Before : Given::After;
  };
  if (code_.functionOf(value) == here) {
    if (!step || isWithin(code_, value, step)) see(value);
    // `if (i % 2 == 0) batch = fetch(i);`: in the other rounds it is that of the round before.
    return found == Given::Before && step && inSomeRounds(d, cast<Expr>(value), use, step) ? Given::After : found;
  }
  forEachExpr(step ? step : known->body, [&](const Expr* x) {
    const auto* lambda = dyn_cast<LambdaExpr>(x);  // std::async([&] { return data.fetch(next); })
    llvm::DenseSet<const FunctionDecl*> seen;
    const bool leads = lambda ? leadsTo(lambda->getCallOperator(), value, seen) : calleeOf(x) && llvm::any_of(runBy(x), [&](const FunctionDecl* g) { return leadsTo(g, value, seen); });
    if (leads) see(x);
  });
  return found;
}

// Is there a way to the mention, from the beginning of a round of the step, on which nothing has given the variable this round's value, and what gives it
// one comes behind?
bool Kinds::isReadFirst(const ValueDecl* d, const Expr* use, llvm::ArrayRef<const Stmt*> values, bool after, unsigned depth) const {
  for (const Stmt* value : values) {
    const Given at = givenAround(d, use, value);
    if (at == Given::Before) return false;
    after = after || at == Given::After;
  }
  for (const Stmt* p = use; p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p)) return after;
  if (depth > kMostCalls) return false;
  const FunctionDecl* here = code_.functionOf(use);
  return here && llvm::any_of(code_.callers(here), [&](const CallSite& c) { return batches_.inStep(c.call) > 0 && isReadFirst(d, c.call, values, after, depth + 1); });
}

bool Kinds::isFetchedAhead(const ValueDecl* d, const Expr* mention) {
  if (!settled_) return findFetchedAhead(d, mention, false);  // what calls run is still being found out
  const auto [known, fresh] = fetchedAhead_.try_emplace(mention, false);
  if (fresh) known->second = findFetchedAhead(d, mention, false);
  return known->second;
}

// The same for a mean or a sum of the batch that is kept in it: here it is that of an earlier step, whose ranks had other shares.
bool Kinds::isNumberKept(const ValueDecl* d, const Expr* mention) {
  if (!settled_) return findFetchedAhead(d, mention, true);
  const auto [known, fresh] = keptNumbers_.try_emplace(mention, false);
  if (fresh) known->second = findFetchedAhead(d, mention, true);
  return known->second;
}

// What is read where a number that a step leaves in a variable may be of the step before.
std::optional<Value> Kinds::numberOfEarlier(const ValueDecl* d, const Expr* mention, const Value& v) {
  if (!isNumberOfBatch(v) || v.kind == Kind::Unknown || !isNumberKept(d, mention)) return std::nullopt;
  return Value::unknown(mention, "it is a number of an earlier batch, which had shares of its own (assign it to a tensor in the step itself, or keep what item() gives)");
}

bool Kinds::findFetchedAhead(const ValueDecl* d, const Expr* mention, bool number) const {
  if (d->getType()->isReferenceType() || isa<ParmVarDecl>(d) || batches_.inStep(mention) == 0 || !holdsBatch(d->getType(), 0)) return false;
  const auto* field = dyn_cast<FieldDecl>(d);
  const CXXRecordDecl* holder = field ? dyn_cast<CXXRecordDecl>(field->getParent()) : nullptr;
  if (!number && holder && dialect_.is(holder, Role::Module)) return false;
  if (!field && !declaredOutsideStep(mention, mention)) return false;
  const FunctionDecl* here = code_.functionOf(mention);
  llvm::SmallVector<const Stmt*, 4> values;
  bool elsewhere = false;
  for (const Definition& def : definitions_.of(d)) {
    const auto* none = def.value ? dyn_cast<CXXConstructExpr>(strip(def.value)) : nullptr;
    if (!def.value || batches_.inStep(def.value) == 0 || (none && argumentsOf(none).empty())) continue;
    if (isWithin(code_, mention, def.value)) return false;  // states = step(states)
    elsewhere = elsewhere || code_.functionOf(def.value) != here;
    values.push_back(def.value);
  }
  if (!number && !field && isTensor(d->getType()) && !elsewhere) return false;  // see isOfEarlierStep
  return !values.empty() && isReadFirst(d, mention, values, false, 0);
}

}  // namespace hvdize
