// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/evaluation_loops.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluation_mode.h"

using namespace clang;

namespace hvdize {

static constexpr const char* kReason = "a number in it cannot be combined over ranks";
static constexpr const char* kOutside = "a number that comes out of it cannot be combined over ranks";

SamplerPlace samplerPlace(const Dialect& dialect, const Expr* loader) {
  SamplerPlace place;
  const Entry* entry = dialect.lookup(loader);
  if (!entry || entry->role != Role::MakeLoader) return place;
  const auto arguments = argumentsOf(loader);
  const auto* call = dyn_cast<CallExpr>(loader);
  const auto* name = call ? dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()) : nullptr;
  if (entry->sampler >= 0 && entry->sampler < static_cast<int>(arguments.size())) {
    place.form = SamplerPlace::Form::Argument;
    place.argument = arguments[entry->sampler];
    // make_data_loader<Points, Sampler>(points, Sampler(n), 8)
    for (unsigned i = 0; name && i < name->getNumTemplateArgs(); ++i)
      if (const TemplateArgument& a = name->getTemplateArgs()[i].getArgument(); a.getKind() == TemplateArgument::Type && dialect.is(a.getAsType(), Role::Sampler))
        place.written = name->getTemplateArgs()[i].getSourceRange();
    return place;
  }
  if (!name || entry->templateArg < 0) return place;
  if (name->getNumTemplateArgs() > static_cast<unsigned>(entry->templateArg)) {
    place.form = SamplerPlace::Form::Written;
    place.written = name->getTemplateArgs()[entry->templateArg].getSourceRange();
    return place;
  }
  const TemplateArgumentList* all = cast<FunctionDecl>(name->getDecl())->getTemplateSpecializationArgs();
  if (!all || static_cast<int>(all->size()) <= entry->templateArg) return place;
  place.form = SamplerPlace::Form::Default;
  place.name = name->getNameInfo().getLoc();
  place.type = all->get(entry->templateArg).getAsType();
  return place;
}

// Is the batch size a written 1? Then there is nothing to share out but the data set's order.
bool EvaluationLoops::holdsOneSample(const Expr* loader) const {
  const Entry* entry = dialect_.lookup(loader);
  const auto arguments = argumentsOf(loader);
  if (!entry || entry->options < 0 || entry->options >= static_cast<int>(arguments.size())) return false;
  bool one = false;
  const auto isOne = [&](const Expr* size) {
    for (const Expr* o : definitions_.origins(size)) {
      Expr::EvalResult r;
      if (o->getType()->isIntegerType() && !o->isValueDependent() && o->EvaluateAsInt(r, code_.context())) one = one || r.Val.getInt() == 1;
    }
  };
  for (const Expr* options : definitions_.origins(arguments[entry->options])) {
    if (options->getType()->isIntegerType()) isOne(options);
    forEachExpr(options, [&](const Expr* x) {
      const Entry* size = calleeOf(x) ? dialect_.lookup(calleeOf(x)) : nullptr;
      const auto given = argumentsOf(x);
      if (size && size->role == Role::BatchSize && size->arg >= 0 && size->arg < static_cast<int>(given.size())) isOne(given[size->arg]);
    });
  }
  return one;
}

const char* EvaluationLoops::loaderObstacle(const LoaderLoop& loop) const {
  const auto origins = definitions_.origins(loop.loader);
  if (origins.empty()) return "the construction of the loader is not visible";
  for (const Expr* o : origins) {
    const SamplerPlace place = samplerPlace(dialect_, o);
    if (place.form == SamplerPlace::Form::Nowhere) return "the construction of the loader is not visible";
    const SourceRange range = place.form == SamplerPlace::Form::Argument ? place.argument->getSourceRange()
                              : place.form == SamplerPlace::Form::Written ? place.written : SourceRange(place.name);
    if (!edits_.canEdit(range)) return "the construction of the loader cannot be edited";
    if (holdsOneSample(o)) return "a batch is one sample";
  }
  // A loop that trains as well (another instantiation of its template) is shared out whatever this says.
  const bool editable = loop.iterators.empty() ? edits_.canEdit(loop.loader->getSourceRange())
                                               : llvm::all_of(loop.iterators, [&](const Expr* i) { return edits_.canEdit(i->getSourceRange()); });
  return editable ? nullptr : "the head of the loop cannot be edited";
}

// Does the draw happen in training mode only: `dropout(x, 0.5, is_training())`?
bool EvaluationLoops::drawsInTrainingOnly(const Expr* draw) const {
  const FunctionDecl* f = calleeOf(draw);
  bool asks = false;
  if (!f || !f->getDeclName().isIdentifier() || !f->getName().contains("dropout")) return false;
  for (const Expr* a : argumentsOf(draw))
    forEachExpr(a, [&](const Expr* x) {
      const FunctionDecl* c = calleeOf(x);
      asks = asks || (c && c->getDeclName().isIdentifier() && c->getName() == "is_training");
    });
  return asks;
}

// The same computation on every row, in evaluation as in training mode, is all that can be shared out.
const char* EvaluationLoops::modeObstacle(const LoaderLoop& loop) const {
  for (const Site& s : sites_.of(Role::RandomDraw)) {
    const auto* m = dyn_cast_or_null<CXXMethodDecl>(s.function);
    const bool forward = m && dialect_.is(m->getParent(), Role::Module) && !isa<CXXConstructorDecl>(m);
    if (!drawsInTrainingOnly(s.call) && (forward || covers(loop, s.call))) return "random numbers are drawn for it";
  }
  const EvaluationMode mode(definitions_, sites_);
  return mode.matters() && !mode.certainBefore(loop.loop) ? "the model is not certainly in evaluation mode here" : nullptr;
}

const char* EvaluationLoops::obstacle(const LoaderLoop& loop) const {
  if (!sites_.of(Role::LoaderOrder).empty()) return "the order of its batches may not be fixed";
  if (batches_.inStep(loop.loop) > 0) return "it runs inside a training step";
  if (const char* why = loaderObstacle(loop)) return why;
  return modeObstacle(loop);
}

bool EvaluationLoops::covers(const LoaderLoop& loop, const Stmt* s) const {
  if (batches_.inBody(s, loop.loop)) return true;
  llvm::DenseSet<const FunctionDecl*> seen;
  bool found = false;
  const FunctionDecl* home = code_.functionOf(s);
  const auto reach = [&](auto&& self, const Stmt* body) -> void {
    forEachExpr(body, [&](const Expr* e) {
      llvm::SmallVector<const FunctionDecl*, 2> targets = code_.targets(e);
      if (const auto* l = dyn_cast<LambdaExpr>(e)) targets.push_back(l->getCallOperator());
      for (const FunctionDecl* f : targets) {
        found = found || (home && f->getCanonicalDecl() == home->getCanonicalDecl());
        const Function* known = code_.find(f);
        if (!found && known && seen.insert(f->getCanonicalDecl()).second) self(self, known->body);
      }
    });
  };
  reach(reach, loopBody(loop.loop));
  return found;
}

// A loop over another loader inside would be a step inside a step.
void EvaluationLoops::settleNesting() {
  auto& loops = batches_.loaderLoops();
  for (LoaderLoop& outer : loops) {
    if (outer.trains || outer.whole) continue;
    for (LoaderLoop& inner : loops) {
      if (&inner == &outer || !covers(outer, inner.loop)) continue;
      outer.whole = "another loader is read inside";
      if (!inner.trains && !inner.whole) inner.whole = "it runs inside another evaluation";
    }
    for (const HandLoop& hand : batches_.handLoops())
      if (covers(outer, hand.loop)) outer.whole = "a training step runs inside";
  }
}

// One place in the source is edited once: all instantiations of a template are shared out, or none; and so are all loops that a loader
// which must keep its type goes through.
void EvaluationLoops::settlePlaces() {
  auto& loops = batches_.loaderLoops();
  for (LoaderLoop& l : loops)
    for (const LoaderLoop& other : loops)
      if (!l.trains && !l.whole && !other.trains && other.whole && other.loop->getBeginLoc() == l.loop->getBeginLoc()) l.whole = other.whole;
}

// What cannot be combined: its loops stay whole. False when none of them is to blame.
bool EvaluationLoops::keepCulprits(const Kinds& kinds, const std::vector<const Expr*>& known) {
  bool any = false;
  const auto blame = [&](const Expr* where, const char* why) {
    for (LoaderLoop& l : batches_.loaderLoops())
      if (!l.trains && !l.whole && covers(l, where)) l.whole = why, any = true;
  };
  const auto blameBody = [&](const Expr* where, const char* why) {
    for (LoaderLoop& l : batches_.loaderLoops())
      if (!l.trains && !l.whole && batches_.inBody(where, l.loop)) l.whole = why, any = true;
  };
  // Where the trouble began tells more than where it showed: what a function gets in one loop, it seems to get in all that call it.
  for (const KindProblem& p : kinds.problems())
    if (!llvm::is_contained(known, p.where) && p.value.origin) blameBody(p.value.origin, p.value.why ? p.value.why : kReason);
  if (any) return true;
  for (const KindProblem& p : kinds.problems())
    if (!llvm::is_contained(known, p.where)) blame(p.where, p.value.why ? p.value.why : kReason);
  for (const auto& [e, v] : kinds.reductions())
    if (!edits_.canEdit(e->getSourceRange())) blame(e, "a number in it cannot be combined over ranks where it stands");
  for (const Expr* e : kinds.opaqueForwards()) blame(e, "what the model computes is not visible");
  for (const Expr* e : kinds.wholeDraws()) blame(e, "random numbers are drawn for it");
  for (const Expr* e : kinds.sharedDraws()) blame(e, "random numbers are drawn for it");
  for (const auto& [condition, controlled] : kinds.localConditions()) blame(condition, "a condition in it differs between ranks");
  return any;
}

Kinds EvaluationLoops::keepWhole(const Derive& derive, const char* why) {
  for (LoaderLoop& l : batches_.loaderLoops())
    if (!l.trains && !l.inParts) l.whole = why;
  return derive();
}

// The problem lies outside: a loop without which there are fewer such problems stays whole.
bool EvaluationLoops::keepOneByTrial(const Derive& derive, const std::vector<const Expr*>& known) {
  const auto count = [&] {
    const Kinds kinds = derive();
    return llvm::count_if(kinds.problems(), [&](const KindProblem& p) { return !llvm::is_contained(known, p.where); });
  };
  const auto before = count();
  for (LoaderLoop& l : batches_.loaderLoops()) {
    if (l.trains || l.whole) continue;
    l.whole = kOutside;
    if (count() < before) return true;
    l.whole = nullptr;
  }
  return false;
}

Kinds EvaluationLoops::share(const Derive& derive) {
  auto& loops = batches_.loaderLoops();
  // The problems that the program has anyway are no reason.
  std::vector<const Expr*> known;
  const Kinds none = derive();
  for (const KindProblem& p : none.problems()) known.push_back(p.where);
  std::vector<const char*> obstacles;
  for (const LoaderLoop& l : loops) obstacles.push_back(l.trains || l.inParts ? l.whole : obstacle(l));
  for (size_t i = 0; i < loops.size(); ++i) loops[i].whole = obstacles[i];
  settleNesting();
  settlePlaces();
  while (llvm::any_of(loops, [](const LoaderLoop& l) { return !l.trains && !l.whole; })) {
    Kinds kinds = derive();
    const bool clean = llvm::all_of(kinds.problems(), [&](const KindProblem& p) { return llvm::is_contained(known, p.where); });
    const bool fewer = keepCulprits(kinds, known) || (!clean && keepOneByTrial(derive, known));
    if (clean && !fewer) return kinds;
    if (!fewer) return keepWhole(derive, kOutside);
    settlePlaces();
  }
  return derive();
}

}  // namespace hvdize
