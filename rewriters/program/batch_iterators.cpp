// SPDX-License-Identifier: Apache-2.0
// Loaders whose batches are taken by hand: `auto it = loader->begin();`, `*it`, `++it`, and a new beginning at the end.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// What is spelled around `e`, without what the compiler adds.
const Stmt* spelledAround(const AuthorCode& code, const Expr* e) {
  const Stmt* p = code.parent(e);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups, CXXConstructExpr, CXXRewrittenBinaryOperator>(p)) p = code.parent(p);
  return p;
}

// What `e` is compared with here; null when this is no comparison.
const Expr* comparedWith(const Stmt* s, const Expr* e) {
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(s);
  if (!o || o->getNumArgs() != 2 || (o->getOperator() != OO_EqualEqual && o->getOperator() != OO_ExclaimEqual)) return nullptr;
  return strip(strip(o->getArg(0)) == e ? o->getArg(1) : o->getArg(0));
}

bool isRead(const Stmt* s) {
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(s);
  return o && o->getNumArgs() == 1 && (o->getOperator() == OO_Star || o->getOperator() == OO_Arrow);
}

}  // namespace

bool Batches::shareLoaders() const {
  return llvm::any_of(loaderLoops_, [](const LoaderLoop& l) { return l.sharded(); }) || llvm::any_of(handIterators_, [](const HandIterator& it) { return it.loop; });
}

// The variable must be local, and its type deduced: over slices it is another.
bool Batches::addHandIterator(const Expr* call) {
  const Expr* loader = objectOf(call);
  const Stmt* around = spelledAround(code_, call);
  const ValueDecl* variable = nullptr;
  const Expr* read = nullptr;
  const FunctionDecl* callee = isa_and_nonnull<CallExpr>(around) ? calleeOf(cast<Expr>(around)) : nullptr;
  const bool counted = callee && isSystemDecl(callee) && callee->getDeclName().isIdentifier() && callee->getName() == "distance";
  if (const auto* ds = dyn_cast_or_null<DeclStmt>(around)) {
    const auto* v = ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
    if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !v->getType()->getContainedDeducedType() || v->getType()->isReferenceType()) return false;
    variable = v;
  } else if (isRead(around)) {
    read = cast<Expr>(around);
  } else if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(around); o && o->getNumArgs() == 2 && (o->getOperator() == OO_Equal || comparedWith(o, call))) {
    variable = dyn_cast_or_null<VarDecl>(declOf(o->getOperator() == OO_Equal ? o->getArg(0) : comparedWith(o, call)));
    if (!variable) return false;
  }
  if (!loader || !declOf(loader) || (!variable && !read && !counted)) return false;
  // Of the loaders that slices can be asked of; not every class with begin() and end() of the framework is one.
  const auto* method = dyn_cast_or_null<CXXMemberCallExpr>(call);
  const Expr* object = method ? method->getImplicitObjectArgument() : nullptr;
  const QualType type = object ? object->IgnoreParenImpCasts()->getType() : QualType();
  if (type.isNull() || !dialect_.is(type->isPointerType() ? type->getPointeeType() : type, Role::Loader)) return false;
  for (HandIterator& it : handIterators_) {
    if (!variable || it.variable != variable) continue;
    it.ends.push_back(call);
    return declOf(it.loader) == declOf(loader);
  }
  HandIterator it{variable, loader, {call}, {}, {}, nullptr};
  if (read) it.reads.push_back(read);
  handIterators_.push_back(it);
  return true;
}

// `auto end = loader->end();`: belongs to the iterator that is compared with it.
void Batches::joinSentinels() {
  for (size_t i = 0; i < handIterators_.size(); ++i) {
    const HandIterator end = handIterators_[i];
    if (!end.variable || !end.reads.empty() || end.ends.size() != 1) continue;
    const auto uses = definitions_.uses(end.variable);
    const auto owner = llvm::find_if(handIterators_, [&](const HandIterator& it) {
      return it.variable && it.variable != end.variable && declOf(it.loader) == declOf(end.loader) && !uses.empty() && llvm::all_of(uses, [&](const Expr* use) {
        const Stmt* p = spelledAround(code_, use);
        const Expr* other = comparedWith(p, use);
        return isa_and_nonnull<LambdaExpr>(p) || (other && declOf(other) == it.variable);
      });
    });
    if (owner == handIterators_.end()) continue;
    owner->ends.push_back(end.ends.front());
    owner->sentinels.push_back(end.variable);
    handIterators_.erase(handIterators_.begin() + static_cast<std::ptrdiff_t>(i--));
  }
}

// Is the iterator read, moved on, compared with its end and set anew, and nothing else?
bool Batches::onlySteps(const HandIterator& it) const {
  const auto* v = dyn_cast_or_null<VarDecl>(it.variable);
  if (!v) return true;
  if (!v->isLocalVarDecl() || !v->getType()->getContainedDeducedType()) return false;
  unsigned moves = 0;  // more than one in a step: it may take several batches, of several sizes
  return llvm::all_of(definitions_.uses(v), [&](const Expr* use) {
    const Stmt* p = spelledAround(code_, use);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    const Stmt* behind = o ? spelledAround(code_, o) : nullptr;
    while (isa_and_nonnull<BinaryOperator>(behind) && cast<BinaryOperator>(behind)->getOpcode() == BO_Comma) behind = spelledAround(code_, cast<Expr>(behind));  // ++a, ++b
    const bool on = o && o->getOperator() == OO_PlusPlus && o->getNumArgs() == 1 && !isa_and_nonnull<Expr>(behind);
    const bool set = o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == use && llvm::is_contained(it.ends, strip(o->getArg(1)));
    if (on && ++moves > 1) return false;
    const Expr* other = comparedWith(p, use);
    const bool compared = other && (llvm::is_contained(it.ends, other) || llvm::is_contained(it.sentinels, declOf(other)));
    return isRead(p) || compared || on || set || isa_and_nonnull<LambdaExpr>(p);  // its captures
  });
}

void Batches::findHandIterators() {
  for (const Site& s : sites_.of(Role::LoaderIterate))
    if (!inLoaderLoop(s.call) && !addHandIterator(s.call)) problems_.push_back({BatchProblem::What::LoaderForm, s.call});
  for (HandIterator& it : handIterators_) {
    if (it.variable)
      for (const Expr* use : definitions_.uses(it.variable))
        if (const Stmt* p = spelledAround(code_, use); isRead(p)) it.reads.push_back(cast<Expr>(p));
    reads_.insert(it.reads.begin(), it.reads.end());
  }
  joinSentinels();
}

// Are random numbers drawn while samples are read? A rank's would then be its own.
bool Batches::drawsSamples() const {
  const DataFunctions data = transformsOfSamples(code_, dialect_);
  return llvm::any_of(code_.functions(), [&](const Function& f) {
    bool draws = false;
    if (data.contains(f.decl->getCanonicalDecl()))
      forEachExpr(f.body, [&](const Expr* e) {
        draws = draws || (calleeOf(e) && dialect_.is(e, Role::RandomDraw)) || hostRole(calleeOf(e)) == HostRole::DrawsC || isRandomEngine(e->getType().getNonReferenceType());
      });
    return draws;
  });
}

namespace {

// May this expression put a tensor, or something that holds one, into what was there before the block?
bool mayKeep(const AuthorCode& code, const Expr* e, const CompoundStmt* block, const ValueDecl* iterator, llvm::function_ref<bool(QualType)> holds) {
  const auto outside = [&](const Expr* to) {
    const ValueDecl* root = to ? rootOf(to) : nullptr;
    if (!root || root == iterator) return root != iterator;
    const auto* v = dyn_cast<VarDecl>(root);
    const DeclStmt* declared = v ? code.declStmt(v) : nullptr;
    return !declared || !isWithin(code, declared, block);
  };
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isAssignmentOp() && holds(b->getLHS()->getType()) && outside(b->getLHS());
  if (isa<LambdaExpr>(e)) return true;
  const FunctionDecl* f = calleeOf(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  if (o && o->isAssignmentOp()) return holds(o->getArg(0)->getType()) && outside(o->getArg(0));
  const auto* m = dyn_cast_or_null<CXXMethodDecl>(f);
  return m && isStdRecord(code.context().getRecordType(m->getParent())) && !m->isConst() && objectOf(e) && !isa<CXXConstructorDecl>(m) && mayChange(f) && holds(objectOf(e)->getType()) && outside(objectOf(e));
}

}  // namespace

// May a batch that the iterator gives go into a loss that is differentiated? By all that the losses name, and what that has been given anywhere.
bool Batches::reachesLoss(const HandIterator& it) const {
  llvm::DenseSet<const ValueDecl*> seen;
  llvm::DenseSet<const FunctionDecl*> entered;
  llvm::SmallVector<const Stmt*, 16> open;
  for (const Site& s : sites_.of(Role::Backward)) open.push_back(s.call);
  bool reached = false;
  while (!open.empty() && !reached) {
    forEachExpr(open.pop_back_val(), [&](const Expr* e) {
      reached = reached || llvm::is_contained(it.reads, e);
      for (const FunctionDecl* f : code_.targets(e))
        if (const Function* known = code_.find(f); known && entered.insert(f->getCanonicalDecl()).second) open.push_back(known->body);
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      if (!d || isa<FunctionDecl>(d) || !seen.insert(d).second) return;
      for (const Definition& def : definitions_.of(d))
        if (def.value) open.push_back(def.value);
      if (const auto* b = dyn_cast<BindingDecl>(d))
        if (const auto* whole = dyn_cast<VarDecl>(b->getDecomposedDecl()); whole && whole->getInit()) open.push_back(whole->getInit());
    });
  }
  return reached;
}

// `if (step % 100 == 0) { NoGradGuard guard; auto loss = loss_of(net, *it); ... ++it; }`: batches of another loader that a step has a look at, without
// gradients or for no loss that is differentiated, and of which nothing is kept but numbers.
bool Batches::looksOnly(const HandIterator& it) const {
  if (it.reads.empty() || drawsSamples()) return false;
  const bool trained = reachesLoss(it);
  const auto holds = [&](QualType t) { return t->isPointerType() || carriesSamples(t.getNonReferenceType()); };
  const auto hasGuard = [&](const CompoundStmt* block, const Stmt* before) {
    for (const Stmt* s : block->body()) {
      if (s == before) return false;
      const auto* ds = dyn_cast<DeclStmt>(s);
      const auto* v = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
      const CXXRecordDecl* type = v ? v->getType()->getAsCXXRecordDecl() : nullptr;
      const Entry* entry = type ? dialect_.lookup(type) : nullptr;
      if (entry && entry->role == Role::NoGrad) return true;
    }
    return false;
  };
  return llvm::all_of(it.reads, [&](const Expr* read) {
    const Stmt* below = read;
    for (const Stmt* p = code_.parent(read); p && !isa<LambdaExpr>(p); below = p, p = code_.parent(p)) {
      const auto* block = dyn_cast<CompoundStmt>(p);
      if (!block || (trained && !hasGuard(block, below))) continue;
      bool keeps = false;
      forEachExpr(block, [&](const Expr* e) { keeps = keeps || mayKeep(code_, e, block, it.variable, holds); });
      return !keeps;
    }
    return false;
  });
}

// Slices of one step are of one batch: all reads belong to the loop of that step. Where it takes batches of several loaders, the running program sees to
// it that they are of one size. What no step reads is whole on every rank.
void Batches::checkHandIterators() {
  for (HandIterator& it : handIterators_) {
    const auto stepped = [&](const Expr* e) { return inStep(e) > 0; };
    if ((llvm::any_of(it.reads, stepped) || llvm::any_of(it.ends, stepped)) && onlySteps(it) && looksOnly(it)) {
      it.looks = true;
      continue;
    }
    // Beside the batches of a loop over another loader.
    const auto beside = llvm::find_if(loaderLoops_, [&](const LoaderLoop& l) {
      return l.trains && !it.reads.empty() && llvm::all_of(it.reads, [&](const Expr* r) { return inBody(r, l.loop); });
    });
    if (beside != loaderLoops_.end() && onlySteps(it)) {
      it.loop = beside->loop;
      taken_.insert(it.reads.begin(), it.reads.end());
      continue;
    }
    // In the loop, or in a function that only steps call: `auto next = [&] { ... return *it; }`.
    const auto within = [&](const HandLoop& h) {
      llvm::DenseSet<const FunctionDecl*> reached;
      reach(loopBody(h.loop), reached);
      return llvm::all_of(it.reads, [&](const Expr* r) {
        const FunctionDecl* f = code_.functionOf(r);
        return inBody(r, h.loop) || (f && reached.count(f->getCanonicalDecl()) && inStep(r) == 2);
      });
    };
    const bool taken = llvm::any_of(it.reads, [&](const Expr* r) { return taken_.count(r); });
    // Nothing of it in a step, not even a function that gets the iterator: a pass that begins there would be shuffled anew on each rank.
    const auto outside = [&](const Expr* e) { return inStep(e) == 0; };
    const bool idle = llvm::all_of(it.ends, outside) && llvm::all_of(it.reads, outside) &&
                      (!it.variable || llvm::all_of(definitions_.uses(it.variable), outside));
    const auto home = llvm::find_if(handLoops_, within);
    bool good = idle && !taken;
    if (taken && home != handLoops_.end() && onlySteps(it)) {
      it.loop = home->loop;
      taken_.insert(it.reads.begin(), it.reads.end());
      good = true;
    }
    if (!good) problems_.push_back({BatchProblem::What::LoaderForm, it.ends.front()});
  }
}

}  // namespace hvdize
