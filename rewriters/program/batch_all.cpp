// SPDX-License-Identifier: Apache-2.0
// Full-batch training: each step uses all samples. They lie in tensors that are there before the loop, and that no step changes.
#include "rewriters/program/batches.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

bool isObjectOf(const Expr* call, const Expr* use) { return objectOf(call) && strip(objectOf(call)) == strip(use); }

// `x.add_(1)`, `x = y`, x.uniform_(): by its name, for those of which the dialect says no more.
bool changesObject(const AuthorCode& code, const Dialect& dialect, const Expr* use, const Expr* call) {
  return isChangedThere(code, dialect, use) || (call && isObjectOf(call, use) && calleeName(call).ends_with("_") && !calleeName(call).starts_with("requires_grad"));
}

// What a range-for goes through, of its iterator; else the expression itself.
const Expr* rangeOf(const AuthorCode& code, const Expr* list) {
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(strip(list)));
  const Stmt* declared = v && v->isImplicit() ? code.declStmt(v) : nullptr;
  const auto* loop = declared ? dyn_cast_or_null<CXXForRangeStmt>(code.parent(declared)) : nullptr;
  return loop ? loop->getRangeInit() : list;
}

}  // namespace

bool collectsGradients(const ValueDecl* d, const AuthorCode& code, const Definitions& definitions, const Dialect& dialect) {
  const auto asks = [&](const Expr* x) {
    const FunctionDecl* f = calleeOf(x);
    return f && f->getDeclName().isIdentifier() && dialect.lookup(x) &&
           (f->getName().starts_with("requires_grad") || f->getName() == "set_requires_grad" || f->getName() == "register_parameter");
  };
  bool found = false;
  for (const Definition& def : definitions.of(d))
    if (def.value) forEachExpr(def.value, [&](const Expr* x) { found = found || asks(x); });
  for (const Expr* use : definitions.uses(d)) {
    const auto* member = dyn_cast_or_null<MemberExpr>(code.parent(use));
    const auto* call = member ? dyn_cast_or_null<CallExpr>(code.parent(member)) : nullptr;
    found = found || (call && asks(call) && (!argumentsOf(call).empty() || member->getMemberDecl()->getName().ends_with("_")));
  }
  return found;
}

// May the tensor be one that is trained: that gradients are collected for or read of, that an optimizer is made with, or a part of a model?
bool Batches::isTrained(const ValueDecl* d, unsigned depth) const {
  if (collectsGradients(d, code_, definitions_, dialect_)) return true;
  const auto used = [&](const Expr* use) {
    for (const Stmt* p = code_.parent(use); isa_and_nonnull<Expr>(p); p = code_.parent(p))
      if (dialect_.is(cast<Expr>(p)->getType(), Role::Optimizer)) return true;
    const Expr* call = operationOn(use);
    return call && isObjectOf(call, use) && (dialect_.is(call, Role::GradRead) || calleeName(call) == "grad" || calleeName(call) == "mutable_grad" || calleeName(call) == "set_data");
  };
  if (llvm::any_of(definitions_.uses(d), used)) return true;
  // auto w = net->layer->weight; what a caller gives for a parameter.
  return llvm::any_of(definitions_.of(d), [&](const Definition& def) {
    bool part = false;
    if (def.value)
      forEachExpr(def.value, [&](const Expr* x) {
        const auto* m = dyn_cast<MemberExpr>(x);
        const ValueDecl* from = isa<DeclRefExpr, MemberExpr>(x) && dialect_.is(x->getType().getNonReferenceType(), Role::Tensor) ? declOf(x) : nullptr;
        part = part || (m && isa<FieldDecl>(m->getMemberDecl()) && isModulePart(m)) || dialect_.is(x, Role::Parameters) ||
               (from && from != d && !isa<FunctionDecl>(from) && depth < 3 && isTrained(from, depth + 1));
      });
    return part;
  });
}

// Is the object, or the variable, there before the first round of the loops, and the same one in all of them?
bool Batches::isHeldOutside(const Expr* object, const Trace& t, unsigned depth) const {
  object = holderOf(object);
  if (!object || depth > 6) return false;
  if (isa<CXXThisExpr>(object)) return true;
  if (const auto* m = dyn_cast<MemberExpr>(object)) return isa<FieldDecl>(m->getMemberDecl()) && isHeldOutside(m->getBase(), t, depth + 1);
  const ValueDecl* d = isa<DeclRefExpr>(object) ? declOf(object) : nullptr;
  if (const auto* b = dyn_cast_or_null<BindingDecl>(d)) d = b->getDecomposedDecl();
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v || isLoopElement(v)) return false;
  Trace here;
  here.loops = t.loops;
  if (const auto* p = dyn_cast<ParmVarDecl>(v)) {
    bool given = false, outside = true;
    for (const Definition& def : definitions_.of(p)) {
      if (!def.value || code_.functionOf(def.value) == p->getDeclContext() || !evaluatedIn(def.value, here)) continue;
      given = true;
      outside = outside && isHeldOutside(def.value, t, depth + 1);
    }
    return outside && (given || !evaluatedHere(p, here));
  }
  if (!v->isLocalVarDecl() || v->isStaticLocal()) return true;
  const DeclStmt* declared = code_.declStmt(v);
  const bool alias = v->getType()->isReferenceType() && v->getInit();
  return declared && (!evaluatedIn(v->getInit() ? v->getInit() : object, here) || (alias && isHeldOutside(v->getInit(), t, depth + 1))) &&
         (alias || llvm::none_of(t.loops, [&](const Stmt* l) { return isWithin(code_, declared, l); }));
}

// Is the parameter one of a function that the loops call?
bool Batches::evaluatedHere(const ParmVarDecl* p, Trace& t) const {
  const auto* f = dyn_cast_or_null<FunctionDecl>(p->getDeclContext());
  const Function* known = f ? code_.find(f) : nullptr;
  if (!known) return false;
  if (t.reached.empty())
    for (const Stmt* l : t.loops) reach(loopBody(l), t.reached);
  return t.reached.count(f->getCanonicalDecl());
}

// Does this mention give a tensor that all rounds of the loops have alike, and that none of them changes?
bool Batches::isKeptTensor(const Expr* e, const ValueDecl* d, const Trace& t) const {
  Trace here;
  here.loops = t.loops;
  const auto* p = dyn_cast<ParmVarDecl>(d);
  // A copy, or a constant reference: what is given for it is cut there.
  const bool reference = d->getType()->isLValueReferenceType() && !d->getType()->getPointeeType().isConstQualified();
  if (p && evaluatedHere(p, here) && !reference) return false;
  if (const auto* m = dyn_cast<MemberExpr>(e); m && isModulePart(m)) return false;
  if (!isHeldOutside(isa<MemberExpr>(e) ? cast<MemberExpr>(e)->getBase() : e, t)) return false;
  for (const Definition& def : definitions_.of(d)) {
    const bool given = p && def.value && code_.functionOf(def.value) != p->getDeclContext();
    if (!given && (!def.value || evaluatedIn(def.value, here))) return false;
  }
  return llvm::none_of(definitions_.uses(d), [&](const Expr* use) { return changesObject(code_, dialect_, use, operationOn(use)) && evaluatedIn(use, here); });
}

// x in `net(x)`, where x holds all samples.
bool Batches::isAllData(const Expr* e, Trace& t) const {
  if (!isa<DeclRefExpr, MemberExpr>(e) || !dialect_.is(e->getType().getNonReferenceType(), Role::Tensor)) return false;
  const ValueDecl* d = declOf(e);
  const auto* field = dyn_cast_or_null<FieldDecl>(d);
  const bool ofPair = field && field->getParent()->isInStdNamespace() && field->getParent()->getName() == "pair";
  if (!d || isa<FunctionDecl>(d) || (isSystemDecl(d) && !ofPair) || dialect_.owns(d)) return false;
  return isKeptTensor(e, d, t) && !isTrained(d) && !isOneRow(d) && !isSpread(e);
}

// A value on the way to the loss, with no samples in it: is it not seen where it comes from? It may be a batch then, and what is known a constant beside it.
bool Batches::isUnclear(const Expr* e, const Trace& t) const {
  if (!dialect_.is(e->getType().getNonReferenceType(), Role::Tensor)) return false;
  if (calleeOf(e) && !isa<CXXConstructExpr>(e)) {
    const FunctionDecl* f = calleeOf(e);
    if (dialect_.lookup(e) || !code_.targets(e).empty() || hostRole(f) == HostRole::Forward) return false;
    return !isSystemDecl(f) || !objectOf(e) || !isTrainedList(rangeOf(code_, objectOf(e)));
  }
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
  if (!d || isa<FunctionDecl>(d)) return false;
  const auto* m = dyn_cast<MemberExpr>(e);
  if (m && isModulePart(m)) return false;
  Trace here;
  here.loops = t.loops;
  const bool made = llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && evaluatedIn(def.value, here); });
  return !made && !isTrained(d) && !isOneRow(d) && !isSpread(e);
}

// A list of parameters: its items are no samples.
bool Batches::isTrainedList(const Expr* list) const {
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(strip(list)) ? declOf(strip(list)) : nullptr;
  return isOfModel(list) || (d && isTrained(d));
}

bool Batches::isAllData(const Expr* shard) const { return isa<DeclRefExpr, MemberExpr>(shard) && allData_.count(declOf(shard)); }

bool Batches::findAllData(const Expr* loss, Trace& t) {
  const llvm::SetVector<const Expr*> before = shards_;
  t.all = true;
  const bool any = formsBatch(loss, t) && !t.unclear;
  const bool data = llvm::any_of(t.found, [&](const Expr* e) { return isAllData(e, t); });
  if (!any || !data) return shards_ = before, false;
  for (const Expr* e : t.found)
    if (isAllData(e, t)) allData_.insert(declOf(e));
  return true;
}

// How many of the loops, the innermost first, train one model: a loop over folds or rates makes a model and its optimizer in each round, and is
// no loop of steps.
size_t Batches::loopsOfOneTraining(llvm::ArrayRef<const Stmt*> loops) const {
  const auto makes = [&](const Stmt* loop, Role role) {
    bool made = false;
    const auto look = [&](const Expr* e) {
      const auto* k = dyn_cast<CXXConstructExpr>(e);
      if (!k || k->getConstructor()->isCopyOrMoveConstructor()) return;
      made = made || dialect_.is(k->getType(), role) ||
             (code_.files().contains(k->getConstructor()->getParent()->getLocation()) &&
              llvm::any_of(k->getConstructor()->getParent()->fields(), [&](const FieldDecl* f) { return dialect_.is(f->getType(), role); }));  // Trainer(x, y)
    };
    forEachExpr(loopBody(loop), look);
    llvm::DenseSet<const FunctionDecl*> called;
    reach(loopBody(loop), called);
    for (const FunctionDecl* f : called)
      if (const Function* known = code_.find(f)) forEachExpr(known->body, look);
    return made;
  };
  for (size_t n = 1; n < loops.size(); ++n)
    if (makes(loops[n], Role::Optimizer) && makes(loops[n], Role::Module) && !makes(loops[n - 1], Role::Optimizer)) return n;
  return loops.size();
}

// The objects that the member may belong to: `train` of `train.x`; of a parameter those that are given for it.
void Batches::addObjectsOf(const Expr* member, llvm::DenseSet<const ValueDecl*>& out, unsigned depth) const {
  const Expr* e = strip(member);
  while (const auto* m = dyn_cast_or_null<MemberExpr>(e)) e = strip(m->getBase());
  const ValueDecl* d = e && isa<DeclRefExpr>(e) ? declOf(e) : nullptr;
  out.insert(d);  // null: of this object, or of one that has no name
  const auto* p = dyn_cast_or_null<ParmVarDecl>(d);
  if (!p || depth > 4) return;
  for (const Definition& def : definitions_.of(p))
    if (def.value && code_.functionOf(def.value) != p->getDeclContext()) out.erase(d), addObjectsOf(def.value, out, depth + 1);
}

// Of members that hold samples in several objects: does this mention give those of an object whose samples the steps use?
bool Batches::isOfCutObject(const Expr* use) const {
  if (!isa<MemberExpr>(use)) return true;
  llvm::DenseSet<const ValueDecl*> cut, own;
  for (const Expr* s : shards_)
    if (isa<MemberExpr>(s) && declOf(s) == declOf(use)) addObjectsOf(s, cut);
  addObjectsOf(use, own);
  return cut.empty() || llvm::all_of(own, [&](const ValueDecl* d) { return cut.count(d); });
}

// `[&]`, `[x]`: what the lambda does with the variable is another mention.
static bool isCaptured(const AuthorCode& code, const Expr* use) {
  const auto* l = dyn_cast_or_null<LambdaExpr>(code.parent(use));
  return l && llvm::any_of(l->captures(), [&](const LambdaCapture& c) { return c.capturesVariable() && !c.getCapturedVar()->isInitCapture() && c.getCapturedVar() == declOf(use); });
}

// What else a step reads of the tensors that hold all samples, and of those that go with them, row by row: `(guess == classes).sum()`.
void Batches::addUsesOfAllData() {
  const auto add = [&](const ValueDecl* d) {
    for (const Expr* use : definitions_.uses(d)) {
      if (inStep(use) == 0 || isCaptured(code_, use) || !isOfCutObject(use) || llvm::any_of(shards_, [&](const Expr* s) { return isWithin(code_, use, s); })) continue;
      const Expr* call = operationOn(use);
      const Entry* entry = call ? dialect_.lookup(call) : nullptr;
      if (entry && entry->role == Role::Op && entry->op == OpKind::ShapeOnly) continue;
      bool handed = false;  // the parameter is cut
      for (const FunctionDecl* f : call ? code_.targets(call) : llvm::SmallVector<const FunctionDecl*, 2>())
        for (const ParmVarDecl* p : f->parameters())
          handed = handed || (p->getType()->isLValueReferenceType() && !p->getType()->getPointeeType().isConstQualified() &&
                              llvm::any_of(definitions_.of(p), [&](const Definition& def) { return def.value && strip(def.value) == strip(use); }));
      if (!handed) shards_.insert(use);
    }
  };
  if (sameItems_) findBesideAllData();
  for (size_t i = 0; i < allData_.size(); ++i) {
    add(allData_[i]);
    if (i + 1 == allData_.size()) findBesideAllData();
  }
}

}  // namespace hvdize
