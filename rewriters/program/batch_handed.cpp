// SPDX-License-Identifier: Apache-2.0
// Batches that are whole when a step begins: made by the program's own iterator, in the head of the loop (`while (auto batch = loader.next())`), or one
// step ahead and kept in a member meanwhile. Each rank forms all of them, and takes its rows where the step reads them.
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The statement of a block that `e` belongs to.
const Stmt* statementOf(const AuthorCode& code, const Expr* e) {
  const Stmt* s = e;
  while (s && !isa_and_nonnull<CompoundStmt>(code.parent(s))) s = code.parent(s);
  return s;
}

// The variable whose member this is, through `->`, `*` and `value()`.
const Expr* heldIn(const Expr* e) {
  for (e = strip(e); e;) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    const auto* u = dyn_cast<UnaryOperator>(e);
    const auto* c = dyn_cast<CXXMemberCallExpr>(e);
    if (o && o->getNumArgs() == 1 && (o->getOperator() == OO_Arrow || o->getOperator() == OO_Star) && calleeOf(o) && isSystemDecl(calleeOf(o))) e = strip(o->getArg(0));
    else if (u && u->getOpcode() == UO_Deref) e = strip(u->getSubExpr());
    else if (c && (calleeName(c) == "value" || calleeName(c) == "get") && argumentsOf(c).empty() && objectOf(c) && isSystemDecl(calleeOf(c))) e = strip(objectOf(c));
    else return e;
  }
  return e;
}

}  // namespace

bool comesFromModel(const Expr* e, const Definitions& definitions, const Sites& sites, llvm::DenseSet<const ValueDecl*>& seen) {
  if (sites.reaches(e, Role::Forward)) return true;
  bool any = false;
  forEachExpr(e, [&](const Expr* x) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (any || !d || isa<FunctionDecl>(d) || !seen.insert(d).second) return;
    any = llvm::any_of(definitions.of(d), [&](const Definition& def) { return def.value && comesFromModel(def.value, definitions, sites, seen); });
  });
  return any;
}

llvm::SmallVector<const Stmt*, 4> Batches::headOf(const Stmt* loop) {
  if (const auto* r = dyn_cast<CXXForRangeStmt>(loop)) return {r->getLoopVarStmt(), r->getInc(), r->getBeginStmt()};
  if (const auto* f = dyn_cast<ForStmt>(loop)) return {f->getCond(), f->getInc(), f->getConditionVariableDeclStmt()};
  if (const auto* w = dyn_cast<WhileStmt>(loop)) return {w->getCond(), w->getConditionVariableDeclStmt()};
  if (const auto* d = dyn_cast<DoStmt>(loop)) return {d->getCond()};
  return {};
}

const Expr* Batches::holderOf(const Expr* e) { return heldIn(e); }

bool Batches::belongs(const Expr* e, const Stmt* loop) const {
  if (isWithin(code_, e, loop) || isInHead(e, loop)) return true;
  llvm::DenseSet<const FunctionDecl*> reached;
  reach(loopBody(loop), reached);
  const FunctionDecl* f = code_.functionOf(e);
  return f && reached.count(f->getCanonicalDecl());
}

bool Batches::isInHead(const Expr* e, const Stmt* loop) const {
  llvm::DenseSet<const FunctionDecl*> head;
  for (const Stmt* part : headOf(loop)) {
    if (!part) continue;
    if (isWithin(code_, e, part)) return true;
    reach(part, head);
  }
  const FunctionDecl* f = code_.functionOf(e);
  return f && f != code_.functionOf(loop) && head.count(f->getCanonicalDecl());
}

// Has the member been given its value before it is read here, in every run of the function: `x_ = next();` or `load();` in a statement before?
bool Batches::isSetBefore(const Expr* read, const ValueDecl* member) const {
  const SourceManager& sm = code_.context().getSourceManager();
  const FunctionDecl* here = code_.functionOf(read);
  const auto before = [&](const Stmt* s) {
    return s && isWithin(code_, read, code_.parent(s)) && !isWithin(code_, read, s) && sm.isBeforeInTranslationUnit(s->getBeginLoc(), read->getBeginLoc());
  };
  for (const Definition& def : definitions_.of(member)) {
    if (!def.value || def.compound) continue;
    const FunctionDecl* f = code_.functionOf(def.value);
    const Stmt* s = statementOf(code_, def.value);
    if (f == here && before(s)) return true;
    // A function that always gives it one, called before.
    const Function* setter = f && f != here ? code_.find(f) : nullptr;
    if (!setter || !s || code_.parent(s) != setter->body) continue;
    for (const CallSite& c : code_.callers(f))
      if (code_.functionOf(c.call) == here && before(statementOf(code_, c.call)) && isa<Expr, DeclStmt>(statementOf(code_, c.call))) return true;
  }
  return false;
}

// Do the loops give this parameter nothing but variables of the step, and what calls return?
bool Batches::isOfThisStep(const ParmVarDecl* p, const Trace& t, unsigned depth) const {
  bool any = false;
  Trace here;
  here.loops = t.loops;
  for (const Definition& def : definitions_.of(p)) {
    if (!def.value || def.compound) return false;
    if (!evaluatedIn(def.value, here)) continue;
    const Expr* given = heldIn(def.value);
    const auto* v = dyn_cast_or_null<VarDecl>(given ? declOf(given) : nullptr);
    const auto* q = dyn_cast_or_null<ParmVarDecl>(v);
    const bool own = v && !q && isa<DeclRefExpr>(given) && v->isLocalVarDecl() && !v->isStaticLocal() && code_.declStmt(v) && llvm::any_of(t.loops, [&](const Stmt* l) { return isWithin(code_, code_.declStmt(v), l); });
    const bool made = given && isa<CallExpr>(given) && !isa<CXXOperatorCallExpr>(given) && !given->isGLValue();
    if (!own && !made && !(q && depth < 4 && isOfThisStep(q, t, depth + 1))) return false;
    any = true;
  }
  return any;
}

// `0.9 * mean + 0.1 * x.mean(0)`: made of numbers that are no rows any more, whatever batch they come from.
bool Batches::isStatistic(const Expr* e, const Trace& t, llvm::DenseSet<const ValueDecl*>& seen) {
  e = strip(e);
  if (!e) return false;
  const auto ofBatch = [&](const Expr* x) {
    Trace inner;
    inner.loops = t.loops;
    return carriesSamples(x->getType()) && inputs(x, inner);
  };
  if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr; d && !isa<ParmVarDecl, FunctionDecl>(d)) {
    if (!seen.insert(d).second) return true;  // what it was before
    const auto given = definitions_.of(d);
    return !given.empty() && llvm::all_of(given, [&](const Definition& def) { return def.value && !def.through && (!ofBatch(def.value) || isStatistic(def.value, t, seen)); });
  }
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op) return false;
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  const auto zero = [](const Expr* x) { return isa<IntegerLiteral>(strip(x)) && cast<IntegerLiteral>(strip(x))->getValue() == 0; };
  switch (entry->op) {
    case OpKind::ReduceSum:
    case OpKind::ReduceMean:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceOther: {
      const unsigned first = object ? 0 : 1;
      if (arguments.size() <= first || dimensionOf(e, *entry, code_.context()) == 0) return true;
      const auto along = extentsOf(arguments[first]);
      return along && llvm::any_of(*along, zero);
    }
    case OpKind::Elementwise:
    case OpKind::Reshape: break;
    default: return false;
  }
  const auto plain = [&](const Expr* x) { return !ofBatch(x) || isStatistic(x, t, seen); };
  return (!object || plain(object)) && llvm::all_of(arguments, plain);
}

// A member of an object that is there before the step, and that the loops give batches: what a step reads in it may be of the step before.
bool Batches::isKeptMember(const MemberExpr* m, const Trace& t) {
  const auto* field = dyn_cast<FieldDecl>(m->getMemberDecl());
  if (!field || isSystemDecl(field) || !carriesSamples(field->getType())) return false;
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(heldIn(m->getBase())));
  if (v && !isa<ParmVarDecl>(v) && v->isLocalVarDecl() && !v->isStaticLocal() && llvm::any_of(t.loops, [&](const Stmt* l) { return isWithin(code_, code_.declStmt(v), l); }))
    return false;  // a value of this step
  if (const auto* p = dyn_cast_or_null<ParmVarDecl>(v); p && isOfThisStep(p, t)) return false;
  llvm::DenseSet<const ValueDecl*> members;
  if (isStatistic(m, t, members)) return false;
  return llvm::any_of(definitions_.of(field), [&](const Definition& def) {
    Trace inner;
    inner.loops = t.loops;
    llvm::DenseSet<const ValueDecl*> seen;
    return def.value && evaluatedIn(def.value, inner) && !comesFromModel(def.value, definitions_, sites_, seen) && inputs(def.value, inner);
  });
}

// Does what this value is made of pass through a member that may hold the batch of the step before?
bool Batches::isKept(const Expr* e, Trace& t, llvm::DenseSet<const void*>& seen) {
  e = strip(e);
  if (!e || !seen.insert(e).second || t.found.count(e)) return false;
  if (const auto* m = dyn_cast<MemberExpr>(e)) {
    const ValueDecl* d = m->getMemberDecl();
    if (isKeptMember(m, t)) return !isSetBefore(e, d);
    if (isKept(m->getBase(), t, seen)) return true;
    return seen.insert(d).second && llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && evaluatedIn(def.value, t) && isKept(def.value, t, seen); });
  }
  if (const auto* d = dyn_cast_or_null<VarDecl>(declOf(e)))
    return seen.insert(d).second && llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && evaluatedIn(def.value, t) && isKept(def.value, t, seen); });
  for (const FunctionDecl* f : code_.targets(e))
    for (const Expr* r : definitions_.returns(f))
      if (isKept(r, t, seen)) return true;
  // Of a framework's call, what has a batch in it: a selection of rows is made anew whatever the rows are kept in.
  if (const Expr* object = objectOf(e); object && t.seen.lookup(strip(object)) && isKept(object, t, seen)) return true;
  if (calleeOf(e)) return llvm::any_of(argumentsOf(e), [&](const Expr* a) { return isKept(a, t, seen); });
  return llvm::any_of(e->children(), [&](const Stmt* c) { return isa_and_nonnull<Expr>(c) && isKept(cast<Expr>(c), t, seen); });
}

// A call of the program's own code that gives a batch, and computes nothing of the model.
bool Batches::handsOut(const Expr* e, const Trace& t) {
  const auto targets = code_.targets(e);
  if (targets.empty() || isa<CXXConstructExpr>(e) || dialect_.lookup(e) || sites_.reaches(e, Role::Forward)) return false;
  for (const FunctionDecl* f : targets)
    if (sites_.functionReaches(f, Role::Forward)) return false;
  // return batches_[next_++];
  for (const FunctionDecl* f : targets)
    if (llvm::any_of(definitions_.returns(f), [&](const Expr* r) { return carriesSamples(r->getType()) && isElement(r); })) return true;
  Trace inner;
  inner.loops = t.loops;
  return inputs(e, inner) && !inner.found.empty();
}

// What the body of `loop`, and the functions that it calls, read of batches that are whole.
void Batches::collectHanded(const Stmt* loop, const Trace& t, llvm::SetVector<const Expr*>& cuts) {
  llvm::SmallVector<const Stmt*, 4> code(headOf(loop));
  code.push_back(loopBody(loop));
  llvm::DenseSet<const FunctionDecl*> reached;
  reach(loopBody(loop), reached);
  for (const FunctionDecl* f : reached)
    if (const Function* known = code_.find(f)) code.push_back(known->body);
  for (const Stmt* part : code)
    forEachExpr(part, [&](const Expr* e) {
      if (!dialect_.is(e->getType(), Role::Tensor) && carriesSamples(e->getType()->isPointerType() ? e->getType()->getPointeeType() : e->getType()) && handsOut(e, t)) handed_.insert(e);
    });
  // Of the program's own: what a loader of the framework hands out, or in which order, may be another thing on each rank.
  const auto* r = dyn_cast<CXXForRangeStmt>(loop);
  const CXXRecordDecl* range = r ? r->getRangeInit()->getType()->getAsCXXRecordDecl() : nullptr;
  if (range && code_.files().contains(range->getLocation()) && carriesSamples(r->getLoopVariable()->getType())) {
    filled_[loop].push_back(r->getLoopVariable());
    loopElements_.insert(r->getLoopVariable());
  }
  const auto visit = [&](auto&& self, const Stmt* s) -> void {
    const auto* e = dyn_cast_or_null<Expr>(s);
    if (e && dialect_.is(e->getType(), Role::Tensor)) {
      const auto* m = dyn_cast<MemberExpr>(e);
      if (isPartOfHanded(e) || handsOut(e, t) || (m && (isHanded(m->getBase()) || (isKeptMember(m, t) && !isAssigned(m))))) {
        cuts.insert(e);
        return;
      }
    }
    if (!s || isa<LambdaExpr>(s)) return;
    for (const Stmt* c : s->children()) self(self, c);
  };
  visit(visit, loopBody(loop));
}

bool Batches::isAssigned(const Expr* e) const {
  const Stmt* p = code_.parent(e);
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
  return o && o->isAssignmentOp() && o->getArg(0)->IgnoreParenImpCasts() == e;
}

// Is this a value that such a call gave, itself or through variables?
bool Batches::isHanded(const Expr* e, unsigned depth) const {
  e = heldIn(e);
  if (!e || depth > 6) return false;
  if (handed_.count(e)) return true;
  const auto* d = dyn_cast_or_null<VarDecl>(declOf(e));
  return d && llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && isHanded(def.value, depth + 1); });
}

// The loss's batch is whole when the step of `loop` begins: its rows are taken where the step reads it. False: nothing to take them of is found.
bool Batches::cutWhereRead(const Expr* loss, const Stmt* loop, const Trace& t) {
  llvm::SetVector<const Expr*> cuts;
  collectHanded(loop, t, cuts);
  Trace border;
  border.loops = t.loops;
  border.whole = true;
  llvm::SetVector<const Expr*> before = shards_;
  shards_.clear();
  const bool any = formsBatch(loss, border) && !shards_.empty() && llvm::all_of(shards_, [&](const Expr* s) { return inBody(s, loop) || !isInHead(s, loop); });
  const llvm::SetVector<const Expr*> found = shards_;
  shards_ = before;
  if (!any) return false;
  shards_.insert(found.begin(), found.end());
  for (const Expr* e : cuts)
    if (llvm::none_of(found, [&](const Expr* f) { return f != e && isWithin(code_, e, f); })) shards_.insert(e);
  return true;
}

// get<0>(batch), or x of `auto [x, y] = *batch;` that nothing else is assigned to: a part of such a value.
bool Batches::isPartOfHanded(const Expr* e) const {
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    const auto* x = isa<BindingDecl>(r->getDecl()) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    const auto only = [&](const ValueDecl* d) { return llvm::all_of(definitions_.of(d), [&](const Definition& def) { return def.value == x->getInit(); }); };
    return x && x->getInit() && only(x) && only(r->getDecl()) && isPartOfHanded(strip(x->getInit()));
  }
  const auto* call = dyn_cast<CallExpr>(e);
  return call && calleeOf(call) && isSystemDecl(calleeOf(call)) && calleeName(call) == "get" && call->getNumArgs() == 1 && !objectOf(call) && isHanded(call->getArg(0));
}

// In a batch that is cut where it is read: what gives one of its tensors.
bool Batches::readsWhole(const Expr* e, Trace& t) {
  if (!dialect_.is(e->getType().getNonReferenceType(), Role::Tensor) || !evaluatedIn(e, t)) return false;
  if (isPartOfHanded(e)) return true;
  const auto* m = dyn_cast<MemberExpr>(e);
  return m ? isHanded(m->getBase()) || isKeptMember(m, t) : handsOut(e, t);
}

}  // namespace hvdize
