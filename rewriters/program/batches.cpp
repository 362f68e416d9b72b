// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/batches.h"

#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

std::optional<int> dimensionOf(const Expr* call, const Entry& entry, ASTContext& context) {
  if (entry.dim < 0) return entry.defaultDim;
  const auto arguments = argumentsOf(call);
  if (entry.dim >= static_cast<int>(arguments.size())) return entry.defaultDim;
  const Expr* a = strip(arguments[entry.dim]);
  if (const auto list = extentsOf(a); list && list->size() == 1) a = strip(list->front());
  if (const auto* k = dyn_cast<CXXConstructExpr>(a); k && k->getNumArgs() == 1) a = strip(k->getArg(0));  // options with nothing but a dimension
  Expr::EvalResult r;
  if (!a->isValueDependent() && a->getType()->isIntegralOrEnumerationType() && a->EvaluateAsInt(r, context))
    return static_cast<int>(r.Val.getInt().getExtValue());
  return std::nullopt;
}

Batches::Batches(const AuthorCode& code, const Sites& sites, const Definitions& definitions)
    : code_(code), sites_(sites), definitions_(definitions), dialect_(sites.dialect()) {
  findLoaderLoops();
  for (const Site& s : sites.of(Role::Backward)) coverBackward(s);
  addSiblings();
  dropIdle();
  findFeeding();
}

void Batches::addRangeLoop(const CXXForRangeStmt* loop, const Function& f) {
  const Expr* init = loop->getRangeInit();
  if (init && dialect_.is(init->getType(), Role::Loader))
    loaderLoops_.push_back({loop, loop->getLoopVariable(), init, f.decl, sites_.reaches(loop->getBody(), Role::Backward), {}});
  else if (init && isStdRecord(init->getType()))
    loopElements_.insert(loop->getLoopVariable());
}

// Both ends must be taken from one loader, in the head of the loop, and the iterator's type must be deduced: over slices it is another.
void Batches::addIteratorLoop(const ForStmt* loop, const Function& f) {
  const auto* ds = dyn_cast_or_null<DeclStmt>(loop->getInit());
  const auto* it = ds ? dyn_cast_or_null<VarDecl>(*ds->decl_begin()) : nullptr;
  if (!it || !it->getInit() || !loop->getCond() || !it->getType()->getContainedDeducedType()) return;
  LoaderLoop found{loop, it, nullptr, f.decl, sites_.reaches(loop->getBody(), Role::Backward), {}};
  const auto look = [&](const Expr* e) {
    if (!calleeOf(e) || !dialect_.is(e, Role::LoaderIterate)) return;
    const Expr* object = objectOf(e);
    if (!found.loader) found.loader = object;
    if (object && found.loader && declOf(object) == declOf(found.loader)) found.iterators.push_back(e);
  };
  forEachExpr(loop->getInit(), look);
  forEachExpr(loop->getCond(), look);
  if (found.iterators.size() == 2) loaderLoops_.push_back(found);
}

void Batches::findLoaderLoops() {
  for (const Function& f : code_.functions()) {
    const auto visit = [&](auto&& self, const Stmt* s) -> void {
      if (!s || isa<LambdaExpr>(s)) return;
      if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) addRangeLoop(r, f);
      if (const auto* l = dyn_cast<ForStmt>(s)) addIteratorLoop(l, f);
      for (const Stmt* c : s->children()) self(self, c);
    };
    visit(visit, f.body);
  }
  // A loader that is iterated by hand in another form cannot be paired with slices.
  for (const Site& s : sites_.of(Role::LoaderIterate))
    if (!inLoaderLoop(s.call)) problems_.push_back({BatchProblem::What::LoaderForm, s.call});
}

bool Batches::inLoaderLoop(const Stmt* call) const {
  for (const LoaderLoop& l : loaderLoops_)
    if (llvm::is_contained(l.iterators, call)) return true;
  for (const Stmt* p = call; p; p = code_.parent(p))
    if (const auto* ds = dyn_cast<DeclStmt>(p))
      if (const auto* v = dyn_cast_or_null<VarDecl>(ds->isSingleDecl() ? ds->getSingleDecl() : nullptr))
        if (v->isCXXForRangeDecl() || v->isImplicit() || v->getName().starts_with("__")) return true;
  return false;
}

void Batches::coverBackward(const Site& site) { climb(site.call, {}, {}, site); }

void Batches::climb(const Stmt* s, std::vector<const Stmt*> loops, llvm::DenseSet<const void*> seen, const Site& site) {
  for (const Stmt* p = code_.parent(s); p; p = code_.parent(p)) {
    if (!isLoop(p)) continue;
    for (const LoaderLoop& l : loaderLoops_)
      if (l.loop == p) return;  // covered by a loop over a loader
    loops.push_back(p);
  }
  const FunctionDecl* f = code_.functionOf(s);
  if (!f || !seen.insert(f->getCanonicalDecl()).second) return;
  llvm::SmallVector<const Stmt*, 4> callers;
  for (const CallSite& c : code_.callers(f)) callers.push_back(c.call);
  if (const Function* known = code_.find(f); known && known->lambda && callers.empty()) callers.push_back(known->lambda);
  if (callers.empty()) {
    if (loops.empty())
      problems_.push_back({BatchProblem::What::NoLoop, site.call});
    else
      handFormed(site, loops);
    return;
  }
  for (const Stmt* c : callers) climb(c, loops, seen, site);
}

bool Batches::carriesSamples(QualType t) const {
  t = t.getNonReferenceType();
  if (dialect_.is(t, Role::Tensor) || dialect_.is(t, Role::Batch)) return true;
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  if (!r) return false;
  if (isStdRecord(t)) {
    const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(r);
    if (!spec) return false;
    for (const TemplateArgument& a : spec->getTemplateArgs().asArray()) {
      if (a.getKind() == TemplateArgument::Type && carriesSamples(a.getAsType())) return true;
      if (a.getKind() == TemplateArgument::Pack)
        for (const TemplateArgument& p : a.pack_elements())
          if (p.getKind() == TemplateArgument::Type && carriesSamples(p.getAsType())) return true;
    }
    return false;
  }
  if (!code_.files().contains(r->getLocation()) || dialect_.is(t, Role::Module)) return false;
  for (const FieldDecl* f : r->fields())
    if (f->getType()->getAsCXXRecordDecl() != r && carriesSamples(f->getType())) return true;
  return false;
}

// Is this evaluated in one of the loops, directly or in a function that they call?
bool Batches::evaluatedIn(const Expr* e, Trace& t) const {
  for (const Stmt* l : t.loops)
    for (const Stmt* p = e; p; p = code_.parent(p))
      if (p == l) return true;
  if (t.reached.empty())
    for (const Stmt* l : t.loops) reach(loopBody(l), t.reached);
  const FunctionDecl* f = code_.functionOf(e);
  return f && t.reached.count(f->getCanonicalDecl());
}

void Batches::reach(const Stmt* s, llvm::DenseSet<const FunctionDecl*>& out) const {
  const auto enter = [&](const FunctionDecl* f) {
    const Function* known = code_.find(f);
    if (known && out.insert(f->getCanonicalDecl()).second) reach(known->body, out);
  };
  forEachExpr(s, [&](const Expr* e) {
    for (const FunctionDecl* f : code_.targets(e)) enter(f);
    if (const auto* l = dyn_cast<LambdaExpr>(e)) enter(l->getCallOperator());
  });
}

void Batches::handFormed(const Site& site, const std::vector<const Stmt*>& loops) {
  const size_t before = shards_.size();
  const Expr* loss = objectOf(site.call);
  // The innermost loop that forms a batch: what a loop around it selects or draws may be a whole epoch.
  bool any = false;
  for (size_t n = 1; n <= loops.size() && !any; ++n) {
    Trace t;
    t.loops.assign(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(n));
    any = loss && formsBatch(loss, t);
    any = any || shards_.size() > before;
  }
  if (!any) {
    problems_.push_back({BatchProblem::What::NoBatch, site.call});
    return;
  }
  // The step is the innermost loop that holds what forms the batch, directly or in a function it calls.
  for (const Stmt* l : loops) {
    bool holds = false;
    for (const Expr* s : shards_) {
      const FunctionDecl* f = code_.functionOf(s);
      holds = holds || inBody(s, l);
      if (!holds && f && f != code_.functionOf(l))
        forEachExpr(loopBody(l), [&](const Expr* e) {
          for (const FunctionDecl* target : code_.targets(e)) holds = holds || target->getCanonicalDecl() == f->getCanonicalDecl();
        });
    }
    if (!holds) continue;
    for (const HandLoop& h : handLoops_)
      if (h.loop == l) return;
    handLoops_.push_back({l, code_.functionOf(l)});
    return;
  }
  problems_.push_back({BatchProblem::What::NoBatch, site.call});
}

// Looks for the batch that the loss is made from. Values that depend on themselves (x = block(x)) need more than one round: where one has a
// batch in it, what is cut out of it is none of its own.
bool Batches::formsBatch(const Expr* loss, Trace& t) {
  constexpr int kMostRounds = 8;
  llvm::SetVector<const Expr*> first;
  bool any = false;
  for (int round = 0; round < kMostRounds; ++round) {
    t.found.clear();
    t.seen.clear();
    any = inputs(loss, t);
    if (round == 0) first = t.found;
    bool same = t.before.size() == t.seen.size();
    for (const auto& [what, yes] : t.seen) same = same && t.before.lookup(what) == yes;
    if (same) break;
    t.before = t.seen;
  }
  for (const Expr* e : t.found.empty() ? first : t.found) shards_.insert(e);
  return any;
}

bool Batches::inputs(const Expr* e, Trace& t) {
  e = strip(e);
  if (!e) return false;
  const auto known = t.seen.find(e);
  if (known != t.seen.end()) return known->second;
  t.seen[e] = t.before.lookup(e);  // on a cycle, what the round before found out
  const bool any = inputsOf(e, t);
  t.seen[e] = any;
  return any;
}

bool Batches::inputsOf(const Expr* e, Trace& t) {
  if (const auto* m = dyn_cast<MemberExpr>(e); m && dialect_.is(m->getType(), Role::Tensor) && isElement(m->getBase()))
    return t.found.insert(e), true;  // a part of a batch that was made before
  if (const ValueDecl* d = declOf(e); d && isLoopElement(d) && evaluatedIn(e, t) && (isStdRecord(d->getType()) || dialect_.is(d->getType(), Role::Tensor)))
    return t.found.insert(e), true;
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (const auto* m = dyn_cast<MemberExpr>(e); m && isSystemDecl(d)) return inputs(m->getBase(), t);  // .first, .second
    return inputsOfDecl(d, t);
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const bool a = inputs(c->getTrueExpr(), t), b = inputs(c->getFalseExpr(), t);
    return a || b;
  }
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return inputs(a->getBase(), t);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && !carriesSamples(k->getType()) && argumentsOf(k).size() == 1)
    return inputs(argumentsOf(k)[0], t);  // an index, or an opaque value made from a tensor
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    bool any = false;
    for (const Expr* i : list->inits()) any = inputs(i, t) || any;
    return any;
  }
  if (calleeOf(e)) return inputsOfCall(e, t);
  return false;
}

bool Batches::isLoopElement(const ValueDecl* d) const {
  const ValueDecl* v = d;
  if (const auto* b = dyn_cast<BindingDecl>(d)) v = b->getDecomposedDecl();
  // `for (auto& [x, y] : pairs)`: x is made by get<0> of the loop's variable.
  if (const auto* held = dyn_cast<VarDecl>(d); held && !loopElements_.count(held))
    if (const DeclStmt* ds = code_.declStmt(held); ds && ds->isSingleDecl()) v = dyn_cast<ValueDecl>(ds->getSingleDecl());
  return v && loopElements_.count(v);
}

// One item of a container that was filled before: `batches[i]`, the variable of a loop over it, or a reference to one.
bool Batches::isElement(const Expr* e, unsigned depth) const {
  e = strip(e);
  if (!e || depth > 6) return false;
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript && o->getNumArgs() > 0)
    return isStdRecord(o->getArg(0)->getType()) && carriesSamples(e->getType());
  if (const auto* c = dyn_cast<CXXMemberCallExpr>(e); c && calleeOf(c) && calleeOf(c)->getDeclName().isIdentifier()) {
    const llvm::StringRef name = calleeOf(c)->getName();
    return objectOf(c) && isStdRecord(objectOf(c)->getType()) && (name == "at" || name == "front" || name == "back") && carriesSamples(e->getType());
  }
  const ValueDecl* d = declOf(e);
  if (!d || isa<FunctionDecl, FieldDecl>(d)) return false;
  if (isLoopElement(d)) return true;
  for (const Definition& def : definitions_.of(d))
    if (def.value && isElement(def.value, depth + 1)) return true;
  return false;
}

// What is formed outside of every step is not a batch of one; a loop that then has none is none.
void Batches::dropIdle() {
  std::vector<const Expr*> idle;
  for (const Expr* s : shards_)
    if (inStep(s) == 0) idle.push_back(s);
  for (const Expr* s : idle) shards_.remove(s);
  if (!idle.empty() && shards_.empty() && !handLoops_.empty()) {
    for (const Site& b : sites_.of(Role::Backward)) problems_.push_back({BatchProblem::What::NoBatch, b.call});
  }
}

bool Batches::inputsOfDecl(const ValueDecl* d, Trace& t) {
  if (!carriesSamples(d->getType()) && !isa<ParmVarDecl>(d)) return false;
  const auto known = t.seen.find(d);
  if (known != t.seen.end()) return known->second;
  t.seen[d] = t.before.lookup(d);
  bool any = false;
  for (const Definition& def : definitions_.of(d))
    if (def.value && evaluatedIn(def.value, t)) any = inputs(def.value, t) || any;
  t.seen[d] = any;
  return any;
}

bool Batches::inputsOfCall(const Expr* e, Trace& t) {
  const FunctionDecl* callee = calleeOf(e);
  const auto arguments = argumentsOf(e);
  const Entry* entry = dialect_.lookup(callee);
  bool any = false;
  const auto targets = code_.targets(e);
  if (!entry && !targets.empty() && !isa<CXXConstructExpr>(e))
    for (const FunctionDecl* f : targets)
      for (const Expr* r : definitions_.returns(f)) any = inputs(r, t) || any;
  for (const Expr* a : arguments) {
    if (carriesSamples(a->getType())) any = inputs(a, t) || any;
    else if (const auto list = extentsOf(a); list && entry)  // {input, state}, {index, Slice()}
      for (const Expr* x : *list) any = inputs(x, t) || any;
    else if (entry && entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size()) && a == arguments[entry->shape])
      any = inputs(a, t) || any;  // x.sizes()
  }
  if (entry && entry->role == Role::Forward) return any;
  if (const Expr* object = objectOf(e)) {
    if (carriesSamples(object->getType()) && inputs(object, t)) any = true;
    // Of a struct of the author's only the tensors can be cut, where they are used.
    const bool cuttable = isStdRecord(e->getType()) || dialect_.is(e->getType(), Role::Tensor) || dialect_.is(e->getType(), Role::Batch);
    const bool element = !entry && callee && isSystemDecl(callee) && cuttable && carriesSamples(e->getType()) && !any;
    if (element && isStdRecord(object->getType()))  // batches[i], batches.at(i): a batch out of a container made before
      return t.found.insert(e), true;
  }
  if (any || !entry) return any;
  if (entry->role == Role::DatasetRead && !arguments.empty()) return t.found.insert(strip(arguments[0])), true;
  if (entry->role == Role::RandomDraw && entry->shape >= 0) return t.found.insert(e), true;
  if (entry->role != Role::Op) return false;
  ASTContext& context = code_.context();
  const auto dim = dimensionOf(e, *entry, context);
  if (const auto list = entry->index >= 0 && entry->index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry->index]) : std::nullopt;
      list && !list->empty() && keepsFirstDimension(list->front()))
    return false;  // x.index({Slice(), Slice(i, i + n)}) cuts along another dimension: no rows are chosen
  if (entry->op == OpKind::Select && dim.value_or(0) == 0) {
    llvm::DenseSet<const void*> seen;
    return varies(e, t, seen) && (t.found.insert(e), true);  // the same rows in every round (of a mask, of positions) are no batch
  }
  if (entry->op == OpKind::Concat && dim.value_or(0) == 0) return t.found.insert(e), true;
  if (entry->op == OpKind::Factory && entry->shape < 0 && !arguments.empty()) {
    const Expr* data = strip(arguments[0]);
    for (const auto* k = dyn_cast<CXXConstructExpr>(data); k && !isStdRecord(k->getType()) && k->getNumArgs() > 0; k = dyn_cast<CXXConstructExpr>(data))
      data = strip(k->getArg(0));
    llvm::DenseSet<const void*> seen;
    return isStdRecord(data->getType()) && varies(data, t, seen) && (t.found.insert(e), true);  // tensor(labels): numbers collected for this batch
  }
  if (entry->op == OpKind::Factory && entry->shape >= 0) {
    const auto list = extentsOf(arguments[entry->shape]);
    if (list && !list->empty() && !isa<IntegerLiteral>(strip(list->front()))) return t.found.insert(e), true;
  }
  return false;
}

// Is this mention of a container the object of a call that may change it: v.push_back(x)?
bool Batches::changes(const Expr* use) const {
  const Stmt* p = code_.parent(use);
  while (p && isa<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
  const auto* member = dyn_cast_or_null<MemberExpr>(p);
  const auto* method = member ? dyn_cast<CXXMethodDecl>(member->getMemberDecl()) : nullptr;
  return method && !method->isConst() && !method->isStatic();
}

// May the expression have another value in another round of the loops? Shapes of tensors count as the same.
bool Batches::varies(const Expr* e, Trace& t, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e || !seen.insert(e).second) return false;
  if (isa<IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr, StringLiteral, CXXNullPtrLiteralExpr, CXXThisExpr, LambdaExpr>(e)) return false;
  if (const auto* m = dyn_cast<MemberExpr>(e); m && varies(m->getBase(), t, seen)) return true;
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (isa<EnumConstantDecl>(d) || isSystemDecl(d) || dialect_.owns(d) || !seen.insert(d).second) return false;
    if (isLoopElement(d) || isa<BindingDecl>(d)) return true;
    bool given = isa<FieldDecl>(d);
    for (const Definition& def : definitions_.of(d)) {
      given = true;
      if (def.compound || !def.value || (evaluatedIn(def.value, t) && varies(def.value, t, seen))) return true;
    }
    if (isStdRecord(d->getType()) && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return changes(use) && evaluatedIn(use, t); })) return true;
    return !given;
  }
  if (const FunctionDecl* f = calleeOf(e)) {
    const Entry* entry = dialect_.lookup(f);
    if (entry && entry->role == Role::Op && (entry->op == OpKind::Size || entry->op == OpKind::ElementCount || entry->op == OpKind::ShapeOnly)) return false;
    const bool known = entry && entry->role != Role::RandomDraw && entry->role != Role::DatasetRead;
    if (!known && !isa<CXXConstructExpr>(e) && hostRole(f) != HostRole::Forward) return true;
    const Expr* object = objectOf(e);
    return (object && varies(object, t, seen)) || llvm::any_of(argumentsOf(e), [&](const Expr* a) { return varies(a, t, seen); });
  }
  if (isa<CallExpr>(e)) return true;
  for (const Stmt* c : e->children())
    if (const auto* x = dyn_cast_or_null<Expr>(c); x && varies(x, t, seen)) return true;
  return false;
}

// Whatever is cut out of a whole with the same extents in the same loop belongs to the same batch (labels that only a metric
// reads, say).
void Batches::addSiblings() {
  const SourceManager& sm = code_.context().getSourceManager();
  const LangOptions& lo = code_.context().getLangOpts();
  const auto extents = [&](const Expr* e) {
    std::string text;
    for (const Expr* a : argumentsOf(e))
      text += Lexer::getSourceText(CharSourceRange::getTokenRange(a->getSourceRange()), sm, lo).str() + ";";
    return text;
  };
  const std::vector<const Expr*> known(shards_.begin(), shards_.end());
  for (const Site& s : sites_.of(Role::Op)) {
    if (s.entry->op != OpKind::Select || shards_.count(s.call)) continue;
    if (dimensionOf(s.call, *s.entry, code_.context()).value_or(0) != 0) continue;
    for (const Expr* k : known) {
      const Entry* other = dialect_.lookup(k);
      if (other && other->op == OpKind::Select && code_.functionOf(k) == s.function && extents(k) == extents(s.call) &&
          extents(k).size() > 1) {
        bool sameLoop = false;
        for (const HandLoop& h : handLoops_) sameLoop = sameLoop || (inBody(k, h.loop) && inBody(s.call, h.loop));
        if (sameLoop) shards_.insert(s.call);
      }
    }
  }
}

// Back from what forms a batch through variables, and through what is put into containers, to draws and new tensors.
void Batches::findFeeding() {
  llvm::DenseSet<const ValueDecl*> seen;
  std::vector<const ValueDecl*> work;
  const auto look = [&](const Expr* tree, const Expr* except) {
    forEachExpr(tree, [&](const Expr* x) {
      if (const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr; d && isa<VarDecl, BindingDecl>(d) && seen.insert(d).second) work.push_back(d);
      const Entry* entry = x != except && calleeOf(x) ? dialect_.lookup(x) : nullptr;
      if (entry && (entry->role == Role::RandomDraw || entry->op == OpKind::Factory) && entry->shape >= 0 && !shards_.count(x) && inStep(x) > 0)
        feeding_.insert(x);
    });
  };
  for (const Expr* s : shards_) look(s, s);
  while (!work.empty()) {
    const ValueDecl* d = work.back();
    work.pop_back();
    for (const Definition& def : definitions_.of(d))
      if (def.value) look(def.value, nullptr);
    for (const Expr* use : definitions_.uses(d)) {
      // offsets.push_back(x), v.emplace_back(x): what goes in.
      const Stmt* p = code_.parent(use);
      while (p && isa<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code_.parent(p);
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
      const Expr* object = call ? objectOf(call) : nullptr;
      if (object && declOf(object) == d && isStdRecord(object->getType()))
        for (const Expr* a : argumentsOf(call)) look(a, nullptr);
    }
  }
}

bool Batches::isStepLoop(const Stmt* loop) const {
  for (const LoaderLoop& l : loaderLoops_)
    if (l.loop == loop && l.trains) return true;
  for (const HandLoop& h : handLoops_)
    if (h.loop == loop) return true;
  return false;
}

bool Batches::inBody(const Stmt* s, const Stmt* loop) const {
  const Stmt* body = loopBody(loop);
  for (const Stmt* p = s; p; p = code_.parent(p))
    if (p == body) return true;
  return false;
}

int Batches::inStep(const Stmt* s) const {
  llvm::DenseSet<const void*> seen;
  const auto visit = [&](auto&& self, const Stmt* at) -> int {
    for (const Stmt* p = at, *below = nullptr; p; below = p, p = code_.parent(p))
      if (isLoop(p) && isStepLoop(p) && below == loopBody(p)) return 2;
    const FunctionDecl* f = code_.functionOf(at);
    if (!f || !seen.insert(f->getCanonicalDecl()).second) return -1;
    const Function* known = code_.find(f);
    bool yes = false, no = false;
    const auto merge = [&](int r) {
      yes = yes || r > 0;
      no = no || r == 0 || r == 1;
    };
    for (const CallSite& c : code_.callers(f)) merge(self(self, c.call));
    if (known && known->lambda) {
      if (code_.callers(f).empty()) merge(self(self, known->lambda));
    } else if (code_.callers(f).empty()) {
      // `forward` of a module is called by the framework wherever the model is.
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      if (m && !isa<CXXConstructorDecl>(m) && dialect_.is(m->getParent(), Role::Module)) return 1;
      return 0;
    }
    return yes ? (no ? 1 : 2) : 0;
  };
  const int r = visit(visit, s);
  return r < 0 ? 0 : r;
}

}  // namespace hvdize
