// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/batches.h"

#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/constants.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"
#include "rewriters/program/step_closures.h"

using namespace clang;

namespace hvdize {

namespace {

std::optional<int> constantOf(const Expr* e, ASTContext& context) {
  Expr::EvalResult r;
  e = strip(e);
  if (e->isValueDependent()) return std::nullopt;
  if (e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(r, context)) return static_cast<int>(r.Val.getInt().getExtValue());
  const auto number = unchangedNumber(e, context);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// Of several dimensions the first, if it is among them, else the one that comes closest to it: counted from the end, when one is.
std::optional<int> foremost(llvm::ArrayRef<const Expr*> list, ASTContext& context) {
  std::optional<int> found;
  for (const Expr* e : list) {
    const auto d = constantOf(e, context);
    if (!d) return std::nullopt;
    if (*d == 0) return 0;
    found = std::min(found.value_or(*d), *d);
  }
  return found;
}

}  // namespace

std::optional<int> dimensionOf(const Expr* call, const Entry& entry, ASTContext& context) {
  const auto arguments = argumentsOf(call);
  if (calleeName(call) == "pad_sequence" && arguments.size() > 1) {  // is the batch the first dimension, rather than the second?
    const auto first = constantOf(arguments[1], context);
    return first ? std::optional(*first ? 0 : 1) : std::nullopt;
  }
  if (entry.dim < 0) return entry.defaultDim;
  if (entry.dim >= static_cast<int>(arguments.size())) return entry.defaultDim;
  const Expr* a = strip(arguments[entry.dim]);
  const auto list = extentsOf(a);
  if (list && list->size() == 1) a = strip(list->front());
  if (list && list->size() > 1) return foremost(*list, context);
  if (const auto* k = dyn_cast<CXXConstructExpr>(a); k && k->getNumArgs() == 1) a = strip(k->getArg(0));  // options with nothing but a dimension
  return constantOf(a, context);
}

std::optional<std::optional<int>> dimensionOption(const Expr* options, llvm::StringRef setter, ASTContext& context) {
  std::optional<std::optional<int>> found;
  forEachExpr(options, [&](const Expr* x) {
    const FunctionDecl* f = calleeOf(x);
    const auto arguments = argumentsOf(x);
    if (!f || !f->getDeclName().isIdentifier() || f->getName() != setter || arguments.size() != 1) return;
    found = constantOf(arguments[0], context);
  });
  return found;
}

Batches::Batches(const AuthorCode& code, const Sites& sites, const Definitions& definitions)
    : code_(code), sites_(sites), definitions_(definitions), dialect_(sites.dialect()), constructions_(code), closureCalls_(stepsWithClosures(sites, definitions)) {
  findLayerSizes();
  findLoaderLoops();
  findHandIterators();
  for (const Site& s : sites.of(Role::Backward)) coverBackward(s);
  settleParts();
  addSiblings();
  addMentions();
  addPartsOfFilled();
  addUsesOfAllData();
  dropOtherSizes();
  dropKeptRows();
  dropIdle();
  addInstances();
  findFeeding();
  checkHandIterators();
}

void Batches::addRangeLoop(const CXXForRangeStmt* loop, const Function& f) {
  const Expr* init = loop->getRangeInit();
  if (init && dialect_.is(init->getType(), Role::Loader))
    loaderLoops_.push_back({loop, loop->getLoopVariable(), init, f.decl, sites_.reaches(loop->getBody(), Role::Backward), "", {}, false, false});
  else if (init && isStdRecord(init->getType()) && !isOfModel(init))
    loopElements_.insert(loop->getLoopVariable());
}

// net->parameters(), itself or in a variable, or a list that an optimizer is made with: no batches.
bool Batches::isOfModel(const Expr* list, unsigned depth) const {
  list = strip(list);
  if (calleeOf(list) && (dialect_.is(list, Role::Parameters) || dialect_.is(list, Role::Buffers))) return true;
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(list) ? declOf(list) : nullptr;
  if (!d || depth > 4) return false;
  const auto gives = [&](const Definition& def) { return def.value && isOfModel(def.value, depth + 1); };
  const auto trained = [&](const Expr* use) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(p) ||
           (isa_and_nonnull<CXXConstructExpr>(p) && !dialect_.is(cast<Expr>(p)->getType(), Role::Optimizer)))
      p = code_.parent(p);
    return isa_and_nonnull<Expr>(p) && dialect_.is(cast<Expr>(p)->getType(), Role::Optimizer);
  };
  return llvm::any_of(definitions_.of(d), gives) || llvm::any_of(definitions_.uses(d), trained);
}

// Both ends must be taken from one loader, in the head of the loop, and the iterator's type must be deduced: over slices it is another.
void Batches::addIteratorLoop(const ForStmt* loop, const Function& f) {
  const auto* ds = dyn_cast_or_null<DeclStmt>(loop->getInit());
  const auto* it = ds ? dyn_cast_or_null<VarDecl>(*ds->decl_begin()) : nullptr;
  if (!it || !it->getInit() || !loop->getCond() || !it->getType()->getContainedDeducedType()) return;
  LoaderLoop found{loop, it, nullptr, f.decl, sites_.reaches(loop->getBody(), Role::Backward), "", {}, false, false};
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
      addFilledByHead(s);
      for (const Stmt* c : s->children()) self(self, c);
    };
    visit(visit, f.body);
  }
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

// Is the lambda handed to an algorithm of the library, which calls it for each item of a range?
static bool isCalledForEach(const AuthorCode& code, const LambdaExpr* lambda) {
  const Stmt* p = code.parent(lambda);
  while (isa_and_nonnull<ImplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, CXXConstructExpr, CXXFunctionalCastExpr, ParenExpr>(p)) p = code.parent(p);
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  const FunctionDecl* f = call ? calleeOf(call) : nullptr;
  return f && isSystemDecl(f) && f->getDeclName().isIdentifier() &&
         llvm::StringSwitch<bool>(f->getName())
             .Cases("for_each", "for_each_n", "accumulate", "reduce", "transform", "transform_reduce", "inner_product", "generate", "generate_n", true)
             .Cases("all_of", "any_of", "none_of", "count_if", "find_if", true)
             .Default(false);
}

// A function that nothing names, in a program that is seen from its `main` on: it does not run. An overload that was left behind, say.
static bool isLeftBehind(const FunctionDecl* f, const AuthorCode& code) {
  const auto* m = dyn_cast<CXXMethodDecl>(f);
  if (f->isMain() || f->isExternC() || f->isOverloadedOperator() || f->isTemplated() || f->isTemplateInstantiation()) return false;
  if (m && (m->isVirtual() || isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(m))) return false;
  if (llvm::any_of(f->redecls(), [](const FunctionDecl* d) { return d->isReferenced() || d->isUsed(false); })) return false;
  return llvm::any_of(code.functions(), [](const Function& g) { return g.decl->isMain(); });
}

llvm::SmallVector<const Expr*, 4> Batches::callsOf(const FunctionDecl* f) const {
  llvm::SmallVector<const Expr*, 4> calls;
  for (const CallSite& c : code_.callers(f)) calls.push_back(c.call);
  if (const auto it = closureCalls_.find(f->getCanonicalDecl()); it != closureCalls_.end()) calls.append(it->second.begin(), it->second.end());
  return calls;
}

void Batches::coverBackward(const Site& site) {
  llvm::SmallVector<const FunctionDecl*, 2> leftBehind;
  const bool covered = climb(site.call, {}, {}, site, leftBehind);
  if (!covered && !leftBehind.empty()) problems_.push_back({BatchProblem::What::NoLoop, site.call});
}

// Is a loop found on some way up? What begins in functions that are left behind is collected.
bool Batches::climb(const Stmt* s, std::vector<const Stmt*> loops, llvm::DenseSet<const void*> seen, const Site& site, llvm::SmallVectorImpl<const FunctionDecl*>& leftBehind) {
  for (const Stmt* p = code_.parent(s); p; p = code_.parent(p)) {
    if (!isLoop(p)) continue;
    for (LoaderLoop& l : loaderLoops_)
      if (l.loop == p) {  // covered by a loop over a loader
        l.direct = !noteParts(l, site, loops) || l.direct;
        return true;
      }
    loops.push_back(p);
  }
  const FunctionDecl* f = code_.functionOf(s);
  if (!f || !seen.insert(f->getCanonicalDecl()).second) return false;
  llvm::SmallVector<const Stmt*, 4> callers;
  for (const Expr* call : callsOf(f)) callers.push_back(call);
  const Function* known = code_.find(f);
  if (known && known->lambda && callers.empty()) callers.push_back(known->lambda);
  // std::for_each(begins.begin(), begins.end(), [&](int64_t at) { .. step .. }): the loop is the library's.
  if (known && known->lambda && isCalledForEach(code_, known->lambda)) {
    problems_.push_back({BatchProblem::What::NoLoop, site.call});
    return false;
  }
  // A function that calls itself once for each batch: its calls are the rounds.
  const bool recursive = loops.empty() && llvm::any_of(code_.callers(f), [&](const CallSite& c) { return c.caller && c.caller->getCanonicalDecl() == f->getCanonicalDecl(); });
  if (callers.empty() || recursive) {
    if (!loops.empty()) handFormed(site, loops);
    else if (!recursive && isLeftBehind(f, code_)) leftBehind.push_back(f);
    else problems_.push_back({BatchProblem::What::NoLoop, site.call});
    return !loops.empty();
  }
  bool covered = false;
  for (const Stmt* c : callers) covered = climb(c, loops, seen, site, leftBehind) || covered;
  return covered;
}

bool Batches::carriesSamples(QualType t) const {
  t = t.getNonReferenceType();
  if (dialect_.is(t, Role::Tensor) || dialect_.is(t, Role::Batch) || dialect_.is(t, Role::Packed)) return true;
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  if (!r) return false;
  if (isStdRecord(t) || (isSystemDecl(r) && r->getName() == "optional")) {  // the framework has one of its own
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
    for (const Stmt* l : t.loops) {
      reach(loopBody(l), t.reached);
      for (const Stmt* part : headOf(l)) reach(part, t.reached);
    }
  const FunctionDecl* f = code_.functionOf(e);
  return f && t.reached.count(f->getCanonicalDecl());
}

// `static Loss criterion(...)`: initialised once, in whatever step comes first.
static bool isMadeOnce(const Stmt* s) {
  const auto* ds = dyn_cast_or_null<DeclStmt>(s);
  const auto* v = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
  return v && v->isStaticLocal();
}

// handle.resume(): some coroutine goes on.
static bool resumesCoroutine(const Expr* e) {
  const Expr* object = isa<CXXMemberCallExpr>(e) ? objectOf(e) : nullptr;
  const CXXRecordDecl* r = object ? object->getType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
  return r && isStdRecord(object->getType().getNonReferenceType()) && r->getName() == "coroutine_handle" && calleeName(e) == "resume";
}

void Batches::reach(const Stmt* s, llvm::DenseSet<const FunctionDecl*>& out) const {
  const auto enter = [&](const FunctionDecl* f) {
    const Function* known = code_.find(f);
    if (known && out.insert(f->getCanonicalDecl()).second) reach(known->body, out);
  };
  forEachExpr(s, [&](const Expr* e) {
    if (resumesCoroutine(e))
      for (const Function& f : code_.functions())
        if (isa_and_nonnull<CoroutineBodyStmt>(f.decl->getBody())) enter(f.decl);
    const auto called = [&](const auto& closure) { return llvm::is_contained(closure.second, e); };
    if (code_.targets(e).empty() && !isa<LambdaExpr>(e) && llvm::none_of(closureCalls_, called)) return;
    for (const Stmt* p = e; p; p = code_.parent(p))
      if (isMadeOnce(p)) return;
    for (const FunctionDecl* f : code_.targets(e)) enter(f);
    for (const auto& closure : closureCalls_)
      if (called(closure)) enter(closure.first);
    if (const auto* l = dyn_cast<LambdaExpr>(e)) enter(l->getCallOperator());
  });
}

void Batches::handFormed(const Site& site, const std::vector<const Stmt*>& loops) {
  const llvm::SetVector<const Expr*> before = shards_;
  const Expr* loss = objectOf(site.call);
  // The innermost loop that forms a batch: what a loop around it selects or draws may be a whole epoch.
  bool any = false, items = false;
  Trace t;
  const auto look = [&](size_t n, bool columns) {
    t = Trace();
    t.columns = columns;
    t.items = items;
    t.loops.assign(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(n));
    return loss && formsBatch(loss, t);
  };
  // All rows, and a window of their columns: streams of text, say, that lie one below another.
  const auto lookForColumns = [&](size_t most) {
    for (size_t n = 1; n <= most; ++n)
      if (look(n, true)) return true;
    return false;
  };
  // Tensors of all samples, none of which a step leaves out.
  const auto lookForAll = [&](size_t most) {
    for (size_t n = 1; n <= most && loss; ++n) {
      t = Trace();
      t.loops.assign(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(n));
      if (findAllData(loss, t)) return true;
    }
    return false;
  };
  const size_t steps = loopsOfOneTraining(loops);
  for (size_t n = 1; n <= loops.size() && !any; ++n) {
    if (n == steps + 1 && (any = lookForAll(steps))) break;
    any = look(n, false) || shards_.size() > before.size();
    // What an outer loop has but a new tensor of may be a state that the steps of an inner one hand on.
    const auto isNew = [&](const Expr* e) { return before.count(e) || freshTensor(e, dialect_) != nullptr; };
    if (!any || n == 1 || !llvm::all_of(shards_, isNew)) continue;
    const Trace outer = t;
    const llvm::SetVector<const Expr*> made = shards_;
    shards_ = before;
    if (!lookForColumns(n - 1)) shards_ = made, t = outer;
  }
  // All data, of which each step takes the same.
  items = !any;
  for (size_t n = 1; n <= loops.size() && !any; ++n) any = look(n, false) || shards_.size() > before.size();
  sameItems_ = sameItems_ || (items && any);
  items = false;
  // Batches made long before, which a class of the program's own hands out one by one.
  for (size_t n = 1; n <= loops.size() && !any && loss; ++n) {
    t = Trace();
    t.loops.assign(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(n));
    if (!cutWhereRead(loss, loops[n - 1], t)) continue;
    if (llvm::none_of(handLoops_, [&](const HandLoop& h) { return h.loop == loops[n - 1]; })) handLoops_.push_back({loops[n - 1], code_.functionOf(loops[n - 1]), true});
    return;
  }
  any = any || lookForColumns(loops.size());
  any = any || lookForAll(loops.size());
  if (!any) {
    problems_.push_back({BatchProblem::What::NoBatch, site.call});
    return;
  }
  llvm::SmallVector<const Expr*, 8> formed(shards_.begin(), shards_.end());
  formed.append(taken_.begin(), taken_.end());
  // The step is the innermost loop that holds what forms the batch, directly or in a function it calls.
  for (const Stmt* l : loops) {
    bool holds = false;
    llvm::DenseSet<const FunctionDecl*> reached;
    reach(loopBody(l), reached);
    for (const Expr* s : formed) {
      const FunctionDecl* f = code_.functionOf(s);
      holds = holds || inBody(s, l) || (f && f != code_.functionOf(l) && reached.count(f->getCanonicalDecl()));
    }
    llvm::DenseSet<const void*> seen;
    const bool ahead = llvm::any_of(formed, [&](const Expr* s) { return !inBody(s, l) && isInHead(s, l); }) || (holds && isKept(loss, t, seen));
    if (ahead) {
      const llvm::SetVector<const Expr*> made = shards_;
      shards_ = before;
      for (const Expr* e : made)
        if (!before.count(e)) ahead_.insert(e);
      if (!cutWhereRead(loss, l, t)) {
        problems_.push_back({BatchProblem::What::FormedAhead, site.call});
        return;
      }
    }
    if (!holds && !ahead) continue;
    for (const HandLoop& h : handLoops_)
      if (h.loop == l) return;
    handLoops_.push_back({l, code_.functionOf(l), true});
    return;
  }
  problems_.push_back({BatchProblem::What::NoBatch, site.call});
}

// Back from what forms a batch through variables, and through what is put into containers, to draws and new tensors.
void Batches::findFeeding() {
  llvm::DenseSet<const ValueDecl*> seen;
  std::vector<const ValueDecl*> work;
  // What a model makes are results for samples: the shapes of its inputs are those of samples, too.
  const auto look = [&](auto&& self, const Stmt* tree, const Expr* except) -> void {
    const auto* x = dyn_cast_or_null<Expr>(tree);
    if (x) {
      if (const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr; d && isa<VarDecl, BindingDecl>(d) && seen.insert(d).second) work.push_back(d);
      const Entry* entry = x != except && calleeOf(x) ? dialect_.lookup(x) : nullptr;
      if (entry && entry->role == Role::Forward) return;
      if (entry && (entry->role == Role::RandomDraw || entry->op == OpKind::Factory) && entry->shape >= 0 && !shards_.count(x) && inStep(x) > 0)
        feeding_.insert(x);
    }
    if (!tree || isa<LambdaExpr>(tree)) return;
    for (const Stmt* c : tree->children()) self(self, c, except);
  };
  for (const Expr* s : shards_) {
    // A batch that comes from elsewhere is what it is: the numbers in the code that made it are no sizes of batches.
    const auto* m = dyn_cast<MemberExpr>(s);
    const ValueDecl* d = declOf(s);
    if (!isPartOfElement(s) && !(m && isElement(m->getBase())) && !(d && isLoopElement(d))) look(look, s, s);
  }
  while (!work.empty()) {
    const ValueDecl* d = work.back();
    work.pop_back();
    for (const Definition& def : definitions_.of(d))
      if (def.value) look(look, def.value, nullptr);
    for (const Expr* use : definitions_.uses(d)) {
      // offsets.push_back(x), v.emplace_back(x): what goes in.
      const Stmt* p = code_.parent(use);
      while (p && isa<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code_.parent(p);
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
      const Expr* object = call ? objectOf(call) : nullptr;
      if (object && declOf(object) == d && isStdRecord(object->getType()))
        for (const Expr* a : argumentsOf(call)) look(look, a, nullptr);
    }
  }
}

bool Batches::isStepLoop(const Stmt* loop) const {
  for (const LoaderLoop& l : loaderLoops_)
    if (l.loop == loop && l.sharded()) return true;
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

int Batches::inStep(const Stmt* s) const { return placeOf(s, false); }

bool Batches::isFirstRunInStep(const Stmt* s) const { return placeOf(s, true) > 0; }

int Batches::placeOf(const Stmt* s, bool first) const {
  llvm::DenseSet<const void*> seen;
  const auto visit = [&](auto&& self, const Stmt* at) -> int {
    const Stmt* outermost = at;
    for (const Stmt* p = at, *below = nullptr; p; below = p, p = code_.parent(p)) {
      if (!first && isMadeOnce(p)) return 0;
      if (isLoop(p) && isStepLoop(p) && below == loopBody(p)) return 2;
      outermost = p;
    }
    bool yes = false, no = false;
    const auto merge = [&](int r) {
      yes = yes || r > 0;
      no = no || r == 0 || r == 1;
    };
    const FunctionDecl* f = code_.functionOf(at);
    const auto* ctor = dyn_cast_or_null<CXXConstructorDecl>(f);
    // A field's initialiser, and a constructor that nobody need call by name: where objects of the class begin.
    const CXXRecordDecl* begun = ctor ? ctor->getParent()->getDefinition() : f ? nullptr : constructions_.evaluating(outermost);
    if (f ? !seen.insert(f->getCanonicalDecl()).second : !begun || !seen.insert(begun).second) return -1;
    if (begun) {
      for (const Expr* c : constructions_.of(begun)) merge(self(self, c));
      return yes ? (no ? 1 : 2) : 0;
    }
    const Function* known = code_.find(f);
    const auto calls = callsOf(f);
    for (const Expr* call : calls) merge(self(self, call));
    if (known && known->lambda) {
      if (calls.empty()) merge(self(self, known->lambda));
    } else if (calls.empty()) {
      // `forward` of a module is called by the framework wherever the model is.
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      if (m && dialect_.is(m->getParent(), Role::Module)) return 1;
      return 0;
    }
    return yes ? (no ? 1 : 2) : 0;
  };
  const int r = visit(visit, s);
  return r < 0 ? 0 : r;
}

}  // namespace hvdize
