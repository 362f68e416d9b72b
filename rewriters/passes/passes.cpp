// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/closures.h"
#include "rewriters/passes/passes.h"

#include "llvm/ADT/StringSet.h"

#include "rewriters/passes/choice.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/collations.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"
#include "rewriters/program/uninstantiated.h"

using namespace clang;

namespace hvdize {

namespace {

// The first call of a communication library.
const Expr* communication(const Model& m) {
  const Expr* found = nullptr;
  for (const Root& r : m.code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      const FunctionDecl* callee = calleeOf(e);
      if (!found && callee && (communicates(callee) || m.context.dialect.is(e, Role::Distributes))) found = e;
    });
  return found;
}

// What draws, without its arguments: a layer, a function, a method and its object.
std::string drawName(const Model& m, const Expr* e) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const auto* call = dyn_cast<CallExpr>(e);
  return o ? m.text(o->getArg(0)) : call ? m.text(call->getCallee()) : m.text(e);
}

// A value goes through many expressions before it is refused: the author must find the one to change.
void notePlace(DiagEngine::Handle handle, const Value& v, const Expr* reported) {
  if (v.origin && v.why && v.origin->getSourceRange() != reported->getSourceRange()) handle.note(v.origin->getSourceRange(), "this comes from here");
}

// `optimizer.step(nullptr)`, and a parameter that is never given another closure than its default.
static bool isNothing(const Model& m, const Expr* closure) {
  const auto isNull = [](const Expr* e) {
    for (e = strip(e); isa<CXXConstructExpr>(e) && argumentsOf(e).size() == 1; e = strip(argumentsOf(e)[0])) {}
    return isa<CXXNullPtrLiteralExpr>(e) || (isa<CXXConstructExpr>(e) && argumentsOf(e).empty());
  };
  const auto* p = dyn_cast_or_null<ParmVarDecl>(declOf(strip(closure)));
  if (!p) {
    const Expr* e = strip(closure);  // a copy of it
    for (; isa<CXXConstructExpr>(e) && argumentsOf(e).size() == 1; e = strip(argumentsOf(e)[0])) {}
    p = dyn_cast_or_null<ParmVarDecl>(isa<DeclRefExpr>(e) ? declOf(e) : nullptr);
  }
  if (!p) return isNull(closure);
  const auto given = m.definitions.of(p);
  const bool defaulted = p->hasDefaultArg() && !p->hasUninstantiatedDefaultArg() && isNull(p->getDefaultArg());
  return defaulted && llvm::all_of(given, [&](const Definition& def) { return def.value && !def.compound && isNull(def.value); });
}

// Steps whose batch is shared out, and in which no backward pass depends on it: what leads from one to the other has not been understood (a
// generator that suspends itself, say).
static std::vector<const BackwardSite*> lostLosses(const Model& m) {
  std::vector<const Stmt*> loops;
  for (const LoaderLoop& l : m.batches.loaderLoops())
    if (l.trains && l.sharded()) loops.push_back(l.loop);
  for (const HandLoop& h : m.batches.handLoops()) loops.push_back(h.loop);
  std::vector<const BackwardSite*> lost;
  for (const Stmt* loop : loops) {
    std::vector<const BackwardSite*> within;
    for (const BackwardSite& b : m.backwards)
      if (m.batches.belongs(b.call, loop)) within.push_back(&b);
    const bool none = !within.empty() && llvm::none_of(within, [](const BackwardSite* b) { return b->kind.dependsOnSamples() || b->kind.kind == Kind::Whole; });
    if (none && !llvm::is_contained(lost, within.front())) lost.push_back(within.front());
  }
  return lost;
}

// What a message calls an expression: of one that a macro makes, what the author wrote of it.
static std::string nameOf(const Model& m, const Expr* e) {
  std::string text = m.text(e);
  for (const Stmt* c : e->children())
    if (const auto* part = dyn_cast_or_null<Expr>(c); part && text.empty()) text = nameOf(m, part);
  return text;
}

// `rows = cat({rows, row})` in a loop around a backward pass that is not understood, of a tensor that its loss is made from: nothing else that could be said of such a
// step names the cause.
static const Expr* grownBatch(const Model& m) {
  const auto joinsItself = [&](const Expr* e, const ValueDecl* d) {
    bool joins = false;
    forEachExpr(e, [&](const Expr* x) {
      const Entry* entry = calleeOf(x) ? m.context.dialect.lookup(x) : nullptr;
      if (!entry || entry->op != OpKind::Concat || argumentsOf(x).empty()) return;
      const auto parts = extentsOf(argumentsOf(x)[0]);
      joins = joins || (parts && llvm::any_of(*parts, [&](const Expr* p) { return declOf(strip(p)) == d; }));
    });
    return joins;
  };
  for (const BackwardSite& b : m.backwards) {
    const bool known = b.kind.kind != Kind::Unknown && !b.kind.isUniform() && llvm::none_of(m.batches.problems(), [&](const BatchProblem& p) { return p.where == b.call; });
    const auto loops = m.sites.loopsAround(b.call);
    llvm::SetVector<const ValueDecl*> from;
    const auto look = [&](const Expr* e) {
      forEachExpr(e, [&](const Expr* x) {
        if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr; d && !isa<FunctionDecl>(d)) from.insert(d);
      });
    };
    if (known || loops.empty() || !b.loss) continue;
    look(b.loss);
    for (size_t i = 0; i < from.size() && i < 200; ++i)
      for (const Definition& def : m.definitions.of(from[i])) {
        if (!def.value) continue;
        // Of a tensor that each round makes anew, rows may be added: those that a short batch lacks.
        const auto* v = dyn_cast<VarDecl>(from[i]);
        const Stmt* around = m.code.parent(def.value);
        while (around && !isLoop(around)) around = m.code.parent(around);
        const bool anew = v && around && m.code.declStmt(v) && isWithin(m.code, m.code.declStmt(v), around);
        const auto keeps = [&](const Stmt* l) { return !anew && isWithin(m.code, def.value, l); };
        if (llvm::any_of(loops, keeps) && joinsItself(def.value, from[i])) return def.value;
        look(def.value);
      }
  }
  return nullptr;
}

// obs.transpose_(1, 2), where each mention of `obs` is made this rank's slice: what is changed is a slice of its own.
const Expr* changedInPlace(const Model& m, const Expr* shard) {
  if (!isa<DeclRefExpr, MemberExpr>(strip(shard))) return nullptr;
  const Stmt* p = m.code.parent(shard);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = m.code.parent(p);
  const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
  const bool changes = call && objectOf(call) && strip(objectOf(call)) == strip(shard) && calleeName(call).size() > 1 && calleeName(call).ends_with("_");
  const VarDecl* v = changes ? dyn_cast_or_null<VarDecl>(declOf(strip(shard))) : nullptr;
  return v && m.definitions.uses(v).size() > 1 && !m.code.variableInitialisedBy(call) ? call : nullptr;
}

void reportRefusals(Model& m) {
  DiagEngine& diags = m.context.diags;
  if (const Expr* grown = grownBatch(m))
    return (void)diags.report(DiagID::NoMiniBatch, grown->getSourceRange(),
                              "the batch grows row by row here, from one round of the loop to the next; collect the rows in a std::vector, and put them together in one call where the step begins");
  if (const Expr* e = communication(m)) diags.report(DiagID::CommunicatesItself, e->getSourceRange(), m.text(e));
  for (const BatchProblem& p : m.batches.problems()) {
    // A loss that is added up over batches says more about itself below.
    if (llvm::any_of(m.backwards, [&](const BackwardSite& b) { return b.call == p.where && b.kind.carried; })) continue;
    if (p.what == BatchProblem::What::LoaderForm) diags.report(DiagID::LoaderByHand, p.where->getSourceRange());
    else diags.report(DiagID::NoMiniBatch, p.where->getSourceRange(),
                      p.what == BatchProblem::What::NoLoop             ? "it is in no loop"
                      : p.what == BatchProblem::What::Beside           ? "each step uses all samples, and '" + m.text(p.where) + "' stands beside them and may have a row of its own for each"
                      : p.what == BatchProblem::What::FormedAhead      ? "its batch is made before the step begins, and the step reads no tensor of it"
                                                                      : "the loss depends on no batch that the loop forms");
  }
  if (const auto other = m.batchOfOtherSize())
    diags.report(DiagID::KindUnknown, other->shard->getSourceRange(), m.text(other->shard),
                 "it has " + std::to_string(other->rows) + " rows, and another batch of the same step " + std::to_string(other->first) + "; the slices of a step are those of one batch");
  if (m.singleSample) diags.report(DiagID::NoMiniBatch, m.singleSample->getSourceRange(), "each step uses a single sample");
  for (const SharedGenerator& g : generatorsSharedWithData(m.code, m.context.dialect, m.definitions, m.batches))
    diags.report(DiagID::GeneratorShared, g.use->getSourceRange(), g.name);
  for (const KindProblem& p : m.kinds.problems())
    notePlace(diags.report(DiagID::KindUnknown, p.where->getSourceRange(), nameOf(m, p.where), p.what), p.value, p.where);
  for (const BackwardSite& b : m.backwards) {
    const bool ofEach = b.kind.kind == Kind::Sharded || b.kind.kind == Kind::Second;
    if (b.kind.carried)
      diags.report(DiagID::LossNotSum, b.loss->getSourceRange(), "it holds losses of earlier batches, or other numbers that are kept with their gradients, and those batches had slices of their own; call backward for each batch (gradients add up), or detach what is kept");
    else if (b.kind.earlier)
      diags.report(DiagID::LossNotSum, b.loss->getSourceRange(), "it is made from samples of an earlier batch, which had a slice of its own");
    else if (b.kind.gradedDivisor && b.kind.dependsOnSamples())
      diags.report(DiagID::LossNotSum, b.loss->getSourceRange(), "a sum is divided by one that depends on the parameters: the gradients of such quotients do not add up (divide for each sample, and take the mean)");
    else if (b.kind.kind == Kind::Whole)
      notePlace(diags.report(DiagID::LossNotSum, b.loss->getSourceRange(), b.kind.why ? b.kind.why : "a function that is not linear is applied to a value of the whole batch"), b.kind, b.loss);
    else if (b.kind.dependsOnSamples() && b.kind.kind != Kind::Mean && b.kind.kind != Kind::Sum && b.kind.kind != Kind::CountMean)
      notePlace(diags.report(DiagID::LossNotSum, b.loss->getSourceRange(),
                             b.kind.why ? b.kind.why : ofEach ? "it is a number for each sample, not one for the batch (differentiate their mean or sum)" : kindName(b.kind.kind)),
                b.kind, b.loss);
  }
  for (const BackwardSite* b : lostLosses(m))
    diags.report(DiagID::LossNotSum, b->loss->getSourceRange(), "its batch is shared out, but the way from the samples to this loss is not seen: it would be taken for one that all ranks have alike");
  for (const Site& s : m.sites.of(Role::Step))
    if (s.entry->optimizer < 0 && !argumentsOf(s.call).empty() && !isNothing(m, argumentsOf(s.call)[0]) && !closureEnd(m, s)) diags.report(DiagID::ClosureOptimizer, s.call->getSourceRange());
  for (const Site& s : m.sites.of(Role::GradElsewhere))
    if (m.batches.inStep(s.call) > 0) diags.report(DiagID::GradientsElsewhere, s.call->getSourceRange(), "'" + m.text(s.call) + "'");
  for (const Site& s : m.sites.of(Role::GradOf)) {
    const auto given = argumentsOf(s.call);
    if (m.batches.inStep(s.call) > 0 && given.size() > 1 && m.kinds.of(given[0]).dependsOnSamples() && !m.kinds.of(given[1]).dependsOnSamples())
      diags.report(DiagID::GradientsElsewhere, s.call->getSourceRange(), "'" + m.text(s.call) + "'");
  }
  for (const Site& s : m.sites.of(Role::GradHook))
    diags.report(DiagID::GradientsElsewhere, s.call->getSourceRange(), "'" + m.text(s.call) + "': the function would be called with the gradients of one rank's samples");
  for (const StateOfData& s : stateOfData(m.code, m.context.dialect, m.definitions, m.batches))
    diags.report(DiagID::KindUnknown, s.change->getSourceRange(), m.text(s.change),
                 s.kept ? "'" + s.name + "' may be part of what the data set keeps: each rank changes the samples that it reads, and reads others in the next epoch (change a copy: " + s.name + ".clone())"
                        : "'" + s.name + "' changes whenever a sample is read, and each rank reads its own samples only (make it a function of the sample's number, or keep it out of the data set)");
  for (const StateOfData& s : partsChanged(m.code, m.context.dialect, m.definitions, m.batches))
    diags.report(DiagID::KindUnknown, s.change->getSourceRange(), m.text(s.change),
                 "it writes into a part of '" + s.name + "', which lives on after the step: each rank would change its own rows only (change a copy, made with .clone())");
  for (const Expr* s : m.batches.shards())
    if (const Expr* call = changedInPlace(m, s))
      diags.report(DiagID::KindUnknown, call->getSourceRange(), m.text(call), "it changes '" + m.text(s) + "' as a whole, and each rank would change a slice that nobody reads afterwards (give the result a name, which is then read: rows = " + m.text(s) + ".clone()." + calleeName(call).str() + "(..))");
  if (m.batches.shareLoaders())
    for (const Mixing& x : Collations(m.definitions, m.context.dialect).mixing()) diags.report(DiagID::KindUnknown, x.at->getSourceRange(), m.text(x.at), x.why);
  for (const Expr* e : drawsOfData(m.code, m.context.dialect, m.batches)) diags.report(DiagID::RandomDrawInStep, e->getSourceRange(), drawName(m, e));
  for (const FunctionDecl* f : mixersOfBatches(m.code, m.context.dialect, m.definitions, m.batches)) {
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    diags.report(DiagID::AssumeIndependent, f->getLocation(), method && method->getParent()->isLambda() ? "this function" : "'" + f->getQualifiedNameAsString() + "'");
  }
  for (const Expr* e : m.kinds.localDraws())
    if (!m.kinds.wholeDraws().count(e)) diags.report(DiagID::RandomDrawInStep, e->getSourceRange(), drawName(m, e));
  llvm::StringSet<> assumed;
  for (const Expr* e : m.kinds.opaqueForwards()) {
    const Expr* object = objectOf(e);
    const std::string name = object ? m.text(object) : m.text(e);
    if (m.batches.inStep(e) > 0 && assumed.insert(name).second) diags.report(DiagID::AssumeIndependent, e->getSourceRange(), "'" + name + "'");
  }
  noteOpaqueCalls(m);
  if (!m.main) diags.reportFile(DiagID::NoMain, m.context.ast.getSourceManager().getFileEntryRefForID(
                                                    m.context.ast.getSourceManager().getMainFileID())->getName());
}

std::string found(const Model& m) {
  const auto count = [](size_t n, const char* word) { return std::to_string(n) + " " + word + (n == 1 ? "" : "s"); };
  std::string kinds;
  for (const BackwardSite& b : m.backwards) {
    const std::string k = kindName(b.kind.kind);
    if (kinds.find(k) == std::string::npos) kinds += (kinds.empty() ? "" : ", ") + k;
  }
  return (m.handUpdates.empty() ? count(m.optimizers.size(), "optimizer") : "parameters updated by hand") + ", " + count(m.sites.of(Role::MakeLoader).size(), "loader") + ", loss kind: " + kinds;
}

constexpr PassInfo kPasses[] = {
    {"session", "a session at the start of main: ranks, and how they talk", addSession},
    {"device", "each rank its GPU", bindDevices},
    {"batch-size", "batch sizes that grow with the number of ranks, or are shared out", scaleBatchSize},
    {"constants", "numbers in braces that the compiler knew", castConstants},
    {"sampling", "loaders and index loops that give each rank its samples", shardBatches},
    {"step-counts", "literal numbers of steps", countSteps},
    {"whole-batches", "numbers of batches that are computed as rows / batch", countBatches},
    {"learning-rate", "learning rates that follow the global batch; warm-up", scaleLearningRate},
    {"broadcast", "the same initial state on all ranks", broadcastState},
    {"gradients", "weighted losses, and gradients reduced before they are read", reduceGradients},
    {"batch-dimension", "shapes that hold a batch size", keepBatchDimension},
    {"numbers", "numbers that are shown, stored or decided on speak of all samples", reduceNumbers},
    {"decisions", "decisions that the ranks must share", agreeDecisions},
    {"input-decisions", "decisions about input files", agreeOnInputFiles},
    {"buffers", "buffers such as running statistics, alike before they are read", synchroniseBuffers},
    {"input", "input that only one rank can read", shareInput},
    {"output", "output and checkpoints, written by one rank", keepOutputToRoot},
};

}  // namespace

llvm::ArrayRef<PassInfo> allPasses() { return kPasses; }

void runPasses(PassContext& context) {
  Model model(context);
  if (!model.trains) {
    context.summary.optimizers = !model.optimizers.empty();
    // A template that nothing uses may hold the training step: nothing can be known about it.
    for (const FunctionDecl* f : model.code.uninstantiated())
      if (mayTrain(context.dialect, f)) context.diags.report(DiagID::UnusedTemplate, f->getLocation(), f);
    const auto taken = model.backwards.empty() ? updatesWithGradientsOf(model) : std::vector<const Expr*>();
    for (const BackwardSite& b : model.backwards) context.diags.report(DiagID::UnresolvedOptimizer, b.call->getSourceRange(), "no optimizer steps in this file");
    for (const Expr* e : taken) context.diags.report(DiagID::GradientsElsewhere, e->getSourceRange(), "'" + model.text(e) + "'");
    if (model.backwards.empty() && taken.empty())
      for (const Site& s : model.sites.of(Role::Step))
        context.diags.report(DiagID::GradientsElsewhere, s.call->getSourceRange(), "an optimizer steps here, and nothing calls backward");
    return;
  }
  context.summary.trainer = true;
  context.diags.report(DiagID::TrainerFound, SourceRange(), context.dialect.title(), found(model));
  llvm::SmallVector<const FunctionDecl*, 4> left(model.code.uncalled().begin(), model.code.uncalled().end());
  llvm::sort(left, [](const FunctionDecl* a, const FunctionDecl* b) { return a->getLocation() < b->getLocation(); });
  for (const FunctionDecl* f : left)
    if (const FunctionDecl* body = f->getDefinition(); body && mayTrain(context.dialect, body)) context.diags.report(DiagID::NeverCalled, body->getLocation(), body);
  reportRefusals(model);
  if (context.diags.hasRefusals()) return;
  const auto off = [&](const PassInfo& pass) { return llvm::is_contained(context.options.passesOff, pass.name); };
  for (const PassInfo& pass : allPasses())
    if (off(pass)) context.diags.report(DiagID::PassLeftOut, SourceRange(), pass.name, withoutPass(pass.name).str());
  for (const PassInfo& pass : allPasses())
    if (!off(pass)) pass.run(model);
  if (!llvm::is_contained(context.options.passesOff, "session")) startBeforeMain(model);
}

}  // namespace hvdize
