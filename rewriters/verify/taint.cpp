// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/taint.h"

#include <algorithm>

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

Taint::Taint(const Calls& calls, const std::vector<Control>& controls)
    : calls_(calls), code_(calls.code()), controls_(controls), effects_(findEffects(calls)) {
  for (const Effect& e : effects_)
    if (e.kind != Effect::Kind::Init && !e.through) changed_.insert(e.target);
  for (const Function& f : code_.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      if (!isSumInPlace(e)) return;
      for (const Expr* a : argumentsOf(e))
        if (const ValueDecl* d = wholeOf(declOf(a))) sums_[d].push_back(e);
    });
  for (bool more = true; more;) {
    markRegions();
    more = enterLocalContexts();
    for (const Effect& e : effects_) more = apply(e) || more;
  }
}

bool Taint::isLocal(const Control& c) const { return !c.condition || of(c.condition) == Level::Local; }

void Taint::markRegions() {
  // What a handler does on all ranks alike (a number that does not parse) says nothing about a rank; see findControls.
  for (const Control& c : controls_)
    if (c.kind != Control::Kind::Handler && isLocal(c)) regions_.insert(c.regions.begin(), c.regions.end());
}

bool Taint::raise(llvm::DenseMap<const Decl*, Level>& map, const Decl* d, Level to) {
  Level& now = map[d];
  if (to <= now) return false;
  now = to;
  return true;
}

/// Functions called, or handed over, where not every rank comes by.
bool Taint::enterLocalContexts() {
  bool more = false;
  const auto scan = [&](const Stmt* body) {
    forEachExpr(body, [&](const Expr* e) {
      if (!isa<CallExpr, CXXConstructExpr>(e)) return;
      const auto entered = calls_.entered(e);
      const Word* w = wordOf(e);
      if (entered.empty() || !((w && w->runsOnRoot) || isControlled(e, nullptr))) return;
      for (const FunctionDecl* t : entered) more = localContexts_.insert(t->getCanonicalDecl()).second || more;
    });
  };
  for (const Function& f : code_.functions()) scan(f.body);
  return more;
}

bool Taint::isDeclaredIn(const Decl* target, const Stmt* region) const {
  const auto* v = dyn_cast_or_null<VarDecl>(target);
  const DeclStmt* ds = v ? code_.declStmt(v) : nullptr;
  return ds && !v->isStaticLocal() && isWithin(code_, ds, region);
}

bool Taint::isLocalTo(const Decl* target, const FunctionDecl* f) const {
  const auto* v = dyn_cast_or_null<VarDecl>(target);
  if (isa_and_nonnull<FunctionDecl>(target)) return true;
  return v && v->isLocalVarDeclOrParm() && !v->isStaticLocal() && v->getDeclContext() == static_cast<const DeclContext*>(f);
}

/// Is `site` reached by some ranks only, or another number of times, in a way that `target` outlives? Null: any target.
bool Taint::isControlled(const Stmt* site, const Decl* target) const {
  for (const Stmt* s = site; s; s = code_.parent(s))
    if (regions_.contains(s) && !(target && isDeclaredIn(target, s))) return true;
  const FunctionDecl* f = code_.functionOf(site);
  return f && localContexts_.contains(f->getCanonicalDecl()) && !isLocalTo(target, f);
}

bool Taint::apply(const Effect& e) {
  Level level = e.kind == Effect::Kind::Local ? Level::Local : Level::Uniform;
  for (const Expr* s : e.sources) {
    const Level l = of(s);
    const auto* target = dyn_cast_or_null<ValueDecl>(e.target);
    const bool held = target && e.kind != Effect::Kind::Local && !isa<FunctionDecl>(target) && mayHoldNothing(target->getType()) && !target->getType()->isPointerType() && !mayHoldNothing(s->getType()) && !strip(s)->getType()->isPointerType();
    level = std::max(level, (e.kind == Effect::Kind::Insert || e.items || held) && l != Level::Uniform ? Level::Contents : l);
  }
  bool more = false;
  if (e.through) {
    if (!isFilledAlike(e)) level = std::max(level, outward_.lookup(e.through));
    if (changed_.contains(e.through)) more = changed_.insert(e.target).second;
  }
  const bool changes = e.through ? changed_.contains(e.through) : e.kind != Effect::Kind::Init;
  if (changes && level != Level::Local && isControlled(e.site, e.target)) level = Level::Local;
  if (changes) more = raise(outward_, e.target, level) || more;
  // A parameter that is written through is rank-local for its callers when the call itself is.
  const FunctionDecl* f = changes && e.site ? code_.functionOf(e.site) : nullptr;
  if (f && isa<ParmVarDecl>(e.target) && localContexts_.contains(f->getCanonicalDecl())) more = raise(outward_, e.target, Level::Local) || more;
  return raise(levels_, e.target, level) || more;
}

/// Between `hvd::all_reduce_sum(d)` and the next change of `d`, on the same way through the function.
bool Taint::isSettled(const Expr* use, const ValueDecl* d) const {
  const auto it = sums_.find(d);
  if (it == sums_.end()) return false;
  const SourceManager& sm = code_.context().getSourceManager();
  const auto before = [&](const Stmt* a, const Stmt* b) { return sm.isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc()); };
  for (const Expr* sum : it->second) {
    const Stmt* block = code_.parent(sum);
    while (block && !isa<CompoundStmt>(block)) block = code_.parent(block);
    if (!block || !before(sum, use) || !isWithin(code_, use, block)) continue;
    const bool changed = std::any_of(effects_.begin(), effects_.end(), [&](const Effect& e) {
      return e.target == d && e.kind != Effect::Kind::Init && e.site && before(sum, e.site) && before(e.site, use);
    });
    if (!changed) return true;
  }
  return false;
}

Level Taint::ofReference(const Expr* e) const {
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    const ValueDecl* d = wholeOf(r->getDecl());
    if (isa<FunctionDecl>(d)) return Level::Uniform;
    // `auto [actions, value] = net->forward(rows);` of a class: what the fields hold.
    const auto* binding = dyn_cast<BindingDecl>(r->getDecl());
    const auto* field = binding && binding->getBinding() ? dyn_cast<MemberExpr>(strip(binding->getBinding())) : nullptr;
    if (field && level(field->getMemberDecl()) != Level::Uniform && !isMadeAlike(d)) return Level::Local;
    const Level l = level(d);
    if (l == Level::Uniform || isSettled(e, d)) return Level::Uniform;
    return d != r->getDecl() ? Level::Local : l;
  }
  const auto* m = cast<MemberExpr>(e);
  if (isa<FunctionDecl>(m->getMemberDecl())) return Level::Uniform;
  const auto* whole = dyn_cast<DeclRefExpr>(strip(m->getBase()));
  const Level own = whole && isMadeAlike(whole->getDecl()) ? Level::Uniform : level(m->getMemberDecl());
  return of(m->getBase()) != Level::Uniform ? Level::Local : own;
}

/// `batch.has_value()`, `batch == std::nullopt`, `rows.size()`: asks nothing of what is held.
static bool asksForExtent(const Expr* e) { return askedWhetherHeld(e) || calleeName(e) == "size" || calleeName(e) == "empty"; }

/// `if (!batch)`: the optional or pointer that is asked whether it holds anything. Null for other expressions.
static const Expr* testedForAny(const Expr* e) {
  const auto* call = dyn_cast<CXXMemberCallExpr>(e->IgnoreParenImpCasts());
  const auto* conversion = call ? dyn_cast_or_null<CXXConversionDecl>(call->getMethodDecl()) : nullptr;
  const Expr* object = conversion && conversion->getConversionType()->isBooleanType() ? call->getImplicitObjectArgument() : nullptr;
  return object && mayHoldNothing(object->getType()) ? object : nullptr;
}

Level Taint::of(const Expr* e) const {
  if (const Expr* held = e ? testedForAny(e) : nullptr) return of(held) == Level::Local ? Level::Local : Level::Uniform;
  const Expr* given = e;
  e = e ? strip(e) : nullptr;
  // `return std::make_pair(x, y);` as an optional
  if (e && e != given && mayHoldNothing(given->getType()) && !mayHoldNothing(e->getType()) && !e->getType()->isPointerType()) return std::min(of(e), Level::Contents);
  if (!e || isa<LambdaExpr, UnaryExprOrTypeTraitExpr, CXXThrowExpr>(e)) return Level::Uniform;
  if (isa<DeclRefExpr, MemberExpr>(e)) return ofReference(e);
  // `for (auto& [name, value] : std::vector<...>{{"loss", loss}})`: how many items there are stands in the text.
  const auto* made = dyn_cast<CXXConstructExpr>(e);
  if ((made && made->isStdInitListInitialization()) || (isa<InitListExpr>(e) && isStdRecord(e->getType())))
    return llvm::all_of(e->children(), [this](const Stmt* c) { return of(dyn_cast_or_null<Expr>(c)) == Level::Uniform; }) ? Level::Uniform : Level::Contents;
  if (isa<CallExpr, CXXConstructExpr>(e)) return ofCall(e);
  for (const Stmt* c : e->children())
    if (const auto* child = dyn_cast_or_null<Expr>(c); child && of(child) != Level::Uniform) return Level::Local;
  return Level::Uniform;
}

Level Taint::ofCall(const Expr* e) const {
  const FunctionDecl* f = calleeOf(e);
  if (const Word* w = wordOf(e)) {
    if (w->result == Word::Result::RankLocal) return Level::Local;
    if (w->result == Word::Result::Uniform) return Level::Uniform;
  }
  if (isRankLocalHost(f) || isRootOnlyCall(f)) return Level::Local;
  const auto targets = calls_.targets(e);
  if (!targets.empty() && !isa<CXXConstructExpr>(e)) {
    // A function that training calls with samples, here with what is the same everywhere: so is its result, unless it knows
    // more than its arguments.
    bool uniformArguments = !argumentsOf(e).empty();
    for (const Expr* a : argumentsOf(e)) uniformArguments = uniformArguments && of(a) == Level::Uniform;
    Level out = Level::Uniform;
    for (const FunctionDecl* t : targets) {
      llvm::DenseSet<const void*> seen;
      if (uniformArguments && knowsOnlyArguments(t, isOutsideSteps(e), seen)) continue;
      out = std::max(out, level(t->getCanonicalDecl()));
    }
    return out;
  }
  if (!targets.empty()) return Level::Uniform;  // the fields of the author's objects hold their own levels
  if (const Entry* entry = f ? calls_.dialect().lookup(f) : nullptr; entry && entry->op == OpKind::ShapeOnly) return Level::Uniform;
  return ofOpaque(e);
}

static bool isMadeEmpty(const VarDecl* v) {
  const auto* made = v->getInit() ? dyn_cast<CXXConstructExpr>(v->getInit()->IgnoreImplicit()) : nullptr;
  return !v->getInit() || (made && made->getNumArgs() == 0);
}

/// `Output out; out.value = ...;` in `f`: a field of an object that the function has begun itself, no copy of another. Or `out.value = ...;` into an object
/// that it gets.
bool Taint::isBegunHere(const MemberExpr* m, const FunctionDecl* f) const {
  const auto* r = dyn_cast<DeclRefExpr>(strip(m->getBase()));
  const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
  if (isa_and_nonnull<ParmVarDecl>(v) && v->getType()->isReferenceType()) {
    const Stmt* p = code_.parent(m);
    if (const auto* b = dyn_cast_or_null<BinaryOperator>(p)) return b->getOpcode() == BO_Assign && b->getLHS() == m;
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    return o && o->getOperator() == OO_Equal && o->getArg(0) == m;
  }
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || v->getType()->isReferenceType() || v->getType()->isPointerType()) return false;
  return v->getDeclContext() == static_cast<const DeclContext*>(f) && isMadeEmpty(v);
}

bool Taint::isNamedIn(const VarDecl* v, const Stmt* s) const {
  bool named = false;
  forEachExpr(s, [&](const Expr* e) {
    const auto* r = dyn_cast<DeclRefExpr>(e);
    named = named || (r && wholeOf(r->getDecl()) == v);
  });
  return named;
}

/// `const Output out = net->forward(position);`: an object that comes from what is the same on all ranks, and that nothing changes. Fields have one
/// level for all objects of their class, those of the training steps included; this one's are the same everywhere.
bool Taint::isMadeAlike(const ValueDecl* d) const {
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || v->getType()->isReferenceType() || v->getType()->isPointerType()) return false;
  const auto alike = [this](const Expr* a) { return of(a) == Level::Uniform; };
  if (!isMadeEmpty(v)) {
    const Expr* made = strip(v->getInit());
    const auto* list = dyn_cast<InitListExpr>(made);  // Batch held{xs, ys};
    if (list ? !llvm::all_of(list->inits(), alike) : !givesAlike(made)) return false;
  }
  const auto [known, isNew] = changes_.try_emplace(v);
  if (isNew) known->second = findChanges(v);
  // Copied: what is asked below may ask about other objects, and the table may grow.
  const Changes changes = known->second;
  if (changes.unclear || (isMadeEmpty(v) && changes.fills.empty())) return false;
  if (!open_.insert(v).second) return true;  // filled together with itself
  const bool filledAlike = llvm::all_of(changes.fills, [this](const Effect* e) { return isFilledAlike(*e); });
  open_.erase(v);
  return filledAlike;
}

/// A call of a function of the author's with what is the same everywhere, which knows no more than that.
bool Taint::givesAlike(const Expr* call) const {
  if (!isa<CallExpr>(call)) return false;
  const auto targets = calls_.targets(call);
  if (targets.empty() || argumentsOf(call).empty()) return false;
  if (!llvm::all_of(argumentsOf(call), [this](const Expr* a) { return of(a) == Level::Uniform; })) return false;
  return llvm::all_of(targets, [&](const FunctionDecl* t) {
    llvm::DenseSet<const void*> seen;
    return knowsOnlyArguments(t, isOutsideSteps(call), seen);
  });
}

/// `collate(held, batch);`, `collate(held, batch.x, batch.y);`: what the function writes for the training steps says nothing about this call.
bool Taint::isFilledAlike(const Effect& e) const {
  const auto* call = dyn_cast_or_null<CallExpr>(e.site);
  return call && isa_and_nonnull<ParmVarDecl>(e.through) && givesAlike(call);
}

/// An assignment to the object or to one of its fields, a reference to them that could be written through, a method that is not const.
Taint::Changes Taint::findChanges(const VarDecl* v) const {
  Changes out;
  for (const Effect& e : effects_) {
    if (e.kind == Effect::Kind::Init || !e.site || !(e.target == v || isa_and_nonnull<FieldDecl>(e.target)) || !isNamedIn(v, e.site)) continue;
    if (e.through && isa<ParmVarDecl>(e.through)) out.fills.push_back(&e);
    else out.unclear = true;
  }
  for (const Function& f : code_.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const Expr* object = objectOf(e);
      const auto* m = object ? dyn_cast_or_null<CXXMethodDecl>(calleeOf(e)) : nullptr;
      if (m && !m->isConst() && !m->isStatic() && !calls_.targets(e).empty() && isNamedIn(v, object)) out.unclear = true;
    });
  return out;
}

/// Does no training step run when this does? hvd::shard() gives all rows there.
bool Taint::isOutsideSteps(const Stmt* s, unsigned depth) const {
  if (depth > 6) return false;
  const auto opensStep = [](const Stmt* c) {
    const auto* ds = dyn_cast<DeclStmt>(c);
    const auto* v = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
    const CXXRecordDecl* r = v ? v->getType()->getAsCXXRecordDecl() : nullptr;
    return r && r->getIdentifier() && r->getName() == "StepScope";
  };
  for (const Stmt *below = s, *p = code_.parent(s); p && !isa<LambdaExpr>(p); below = p, p = code_.parent(p))
    if (const auto* block = dyn_cast<CompoundStmt>(p))
      for (const Stmt* c : block->body()) {
        if (c == below) break;
        if (opensStep(c)) return false;
      }
  const FunctionDecl* f = code_.functionOf(s);
  if (!f || f->isMain()) return f != nullptr;
  const auto& callers = code_.callers(f);
  return !callers.empty() && llvm::all_of(callers, [&](const CallSite& c) { return isOutsideSteps(c.call, depth + 1); });
}

/// Nothing in the function, or in those it calls, differs between ranks but what is handed in.
bool Taint::knowsOnlyArguments(const FunctionDecl* f, bool outsideSteps, llvm::DenseSet<const void*>& seen) const {
  const Function* known = code_.find(f);
  if (!known) return false;
  if (!seen.insert(known->body).second) return true;
  bool only = true;
  forEachExpr(known->body, [&](const Expr* e) {
    if (!only) return;
    if (const auto* m = dyn_cast<MemberExpr>(e); m && isa<FieldDecl>(m->getMemberDecl())) only = isBegunHere(m, f) || level(m->getMemberDecl()) == Level::Uniform;
    if (const auto* r = dyn_cast<DeclRefExpr>(e))
      if (const auto* v = dyn_cast<VarDecl>(wholeOf(r->getDecl())); v && (v->hasGlobalStorage() || !f->Encloses(v->getDeclContext()))) only = only && level(v) == Level::Uniform;
    if (!isa<CallExpr, CXXConstructExpr>(e)) return;
    const Word* w = wordOf(e);
    // Outside a step all ranks have all rows.
    static const llvm::StringSet<> rows = {"shard", "share_of", "local_batch_size", "counted_terms", "squeeze"};
    const bool whole = outsideSteps && w && rows.contains(calleeName(e));
    if ((w && w->result == Word::Result::RankLocal && !whole) || isRankLocalHost(calleeOf(e)) || isRootOnlyCall(calleeOf(e))) only = false;
    for (const FunctionDecl* t : calls_.entered(e)) only = only && knowsOnlyArguments(t, outsideSteps, seen);
  });
  return only;
}

/// A function that is not the author's: its result is as uniform as what it gets.
Level Taint::ofOpaque(const Expr* e) const {
  const FunctionDecl* f = calleeOf(e);
  // make_unique<Batch>(x, y), an optional made of a pair: something is held, whatever it is.
  const bool holds = f && mayHoldNothing(e->getType()) && (isa<CXXConstructExpr>(e) || (isSystemDecl(f) && calleeName(e).starts_with("make_"))) &&
                     llvm::none_of(argumentsOf(e), [](const Expr* a) { return mayHoldNothing(a->getType()) || a->getType()->isPointerType(); });
  if (holds) return llvm::any_of(argumentsOf(e), [this](const Expr* a) { return of(a) != Level::Uniform; }) ? Level::Contents : Level::Uniform;
  if (const Expr* object = objectOf(e)) {
    const Level l = of(object);
    const bool extent = asksForExtent(e);
    if (l == Level::Local || (l == Level::Contents && !extent)) return Level::Local;
  }
  const bool compares = isa<CXXOperatorCallExpr>(e) && asksForExtent(e);
  for (const Expr* a : argumentsOf(e))
    if (const Level l = of(a); l == Level::Local || (l == Level::Contents && !compares)) return Level::Local;
  for (const FunctionDecl* t : calls_.entered(e))
    if (level(t->getCanonicalDecl()) != Level::Uniform) return Level::Local;
  return Level::Uniform;
}

const Expr* Taint::cause(const Expr* e) const {
  const Expr* found = nullptr;
  forEachExpr(e, [&](const Expr* x) {
    const bool names = isa<DeclRefExpr, MemberExpr>(x) || isa<CallExpr>(x);
    if (!names || of(x) == Level::Uniform || (found && isa<CallExpr>(found) && isa<CallExpr>(x))) return;
    if (!found || isa<CallExpr>(found)) found = x;
  });
  return found;
}

}  // namespace hvdize
