// SPDX-License-Identifier: Apache-2.0
// Loaders, samplers and hand-written batch loops: each rank takes its slice of every global batch.
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/CharInfo.h"

#include "rewriters/passes/loader_types.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/evaluation_loops.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

using Loaders = llvm::SmallVector<const Expr*, 4>;

// `loader`: what makes it; `named`: how the loop names it.
void shardSampler(Model& m, const Expr* loader, const Expr* named, Loaders& sharded) {
  const Why why{DiagID::SamplerSharded, "the ranks share one order"};
  const SamplerPlace place = samplerPlace(m.context.dialect, loader);
  if (place.form == SamplerPlace::Form::Nowhere) {
    m.context.diags.report(DiagID::KindUnknown, named->getSourceRange(), m.text(named), "the construction of the loader is not visible here");
    return;
  }
  if (place.form == SamplerPlace::Form::Written && m.context.edits.text(place.written).contains("Sharded<")) return;
  m.context.diags.report(DiagID::SamplerSharded, loader->getSourceRange());
  sharded.push_back(loader);
  if (place.form == SamplerPlace::Form::Argument) {
    m.context.edits.wrap(place.argument, "hvd::Sharded(", ")", why);
    if (place.written.isValid()) m.context.edits.wrap(place.written, "hvd::Sharded<", ">", why);
    return;
  }
  if (place.form == SamplerPlace::Form::Written) {
    m.context.edits.wrap(place.written, "hvd::Sharded<", ">", why);
    return;
  }
  // The default sampler: named by the instantiation.
  PrintingPolicy policy(m.context.ast.getLangOpts());
  policy.FullyQualifiedName = true;
  policy.SuppressTagKeyword = true;
  m.context.edits.insertAfterToken(place.name, "<hvd::Sharded<" + place.type.getAsString(policy) + ">>", why);
}

// Everything that may make what the loop goes through.
void shardOrigins(Model& m, const Expr* named, Loaders& sharded) {
  const auto origins = m.definitions.origins(named);
  if (origins.empty())
    m.context.diags.report(DiagID::KindUnknown, named->getSourceRange(), m.text(named), "the construction of the loader is not visible here");
  for (const Expr* o : origins) shardSampler(m, o, named, sharded);
}

// A member or a parameter that spells the type of a loader spells its sampler, too.
void nameSharded(Model& m, const Loaders& sharded) {
  for (const SourceRange r : spelledSamplers(m, sharded)) {
    if (m.context.edits.text(r).contains("Sharded<")) continue;
    m.context.diags.report(DiagID::SamplerSharded, r);
    m.context.edits.wrap(r, "hvd::Sharded<", ">", {DiagID::SamplerSharded, "the ranks share one order"});
  }
}

// Slices of one global batch must meet in the same step: on several ranks batches come in order, which is one of those that the author allows.
void keepOrder(Model& m) {
  for (const Site& s : m.sites.of(Role::LoaderOrder)) {
    const auto arguments = argumentsOf(s.call);
    const Expr* ordered = s.entry->arg < static_cast<int>(arguments.size()) ? arguments[s.entry->arg] : nullptr;
    bool value = false;
    if (ordered && !ordered->isValueDependent() && ordered->EvaluateAsBooleanCondition(value, m.context.ast) && value) continue;
    if (ordered && m.context.edits.text(ordered->getSourceRange()).starts_with("hvd::ordered(")) continue;
    if (!ordered || !m.context.edits.canEdit(ordered->getSourceRange())) {
      m.context.diags.report(DiagID::UnorderedLoader, s.call->getSourceRange(), m.text(s.call));
      continue;
    }
    m.context.diags.report(DiagID::LoaderOrdered, ordered->getSourceRange());
    const Why why{DiagID::LoaderOrdered, "the ranks' slices are of one batch"};
    m.context.edits.wrap(ordered, "hvd::ordered(", ")", why);
  }
}

// `Linear l(4, 4);`: the construction has no text of its own that could stand in an expression.
bool isNamedByVariable(const Model& m, const Expr* e) {
  return isa<CXXConstructExpr>(e) && !isa<CXXTemporaryObjectExpr>(e) && !isa_and_nonnull<CXXFunctionalCastExpr, CXXNewExpr>(m.code.parent(e));
}

// Layers that begin, or begin anew, inside a step: all ranks give them the same values, as the program alone would.
void startDraws(Model& m) {
  if (!m.context.dialect.ownStepDraws()) return;
  for (const Site& s : m.sites.of(Role::StartDraws)) {
    if (!m.batches.isFirstRunInStep(s.call)) continue;
    const bool statement = isWholeStatement(m.code, s.call);
    if (isNamedByVariable(m, s.call) || (!statement && s.call->getType()->isVoidType())) {
      m.context.diags.report(DiagID::KindUnknown, s.call->getSourceRange(), m.text(s.call),
                             "its starting values are drawn inside a training step, on each rank from numbers of its own; make it in front of the loop, or assign a new one to it");
      continue;
    }
    m.context.diags.report(DiagID::DrawShared, s.call->getSourceRange(), m.text(s.call));
    const Why why{DiagID::DrawShared, "drawn alike on all ranks"};
    if (statement) m.context.edits.wrap(s.call, "hvd::whole_draw(), ", "", why);
    else m.context.edits.wrap(s.call, "hvd::whole_draw().keep(", ")", why);
  }
}

// Are there steps whose batch may have fewer rows than the size of batches says: the last one of what a loader or a loop cuts?
bool mayEndShort(const Model& m) {
  unsigned loaders = 0, whole = 0;
  for (const LoaderLoop& l : m.batches.loaderLoops()) loaders += l.trains;
  for (const HandIterator& it : m.batches.handIterators()) loaders += it.loop != nullptr;
  for (const Site& s : m.sites.of(Role::DropLast)) {
    const auto arguments = argumentsOf(s.call);
    const Expr* drops = s.entry->arg < static_cast<int>(arguments.size()) ? arguments[s.entry->arg] : nullptr;
    bool value = false;
    whole += drops && !drops->isValueDependent() && drops->EvaluateAsBooleanCondition(value, m.context.ast) && value;
  }
  return loaders > whole || llvm::any_of(m.batches.shards(), [&](const Expr* s) { return !m.context.dialect.is(s, Role::RandomDraw); });
}

// What stands behind `e` where it is cut: whether it may have another number of rows than the step's batch.
std::string ownRows(const Model& m, const Expr* e) {
  return m.kinds.ownRows().count(e) && !m.kinds.rowsMeet() && mayEndShort(m) ? ", hvd::own_rows)" : ")";
}

// May the batches that a step takes from several loaders be of several sizes?
bool takesOwnRows(const Model& m, const HandIterator& it) {
  unsigned beside = 0;
  for (const LoaderLoop& l : m.batches.loaderLoops()) beside += l.trains && l.loop == it.loop;
  for (const HandIterator& other : m.batches.handIterators()) beside += &other != &it && other.loop == it.loop;
  return beside > 0 && !m.kinds.rowsMeet() && mayEndShort(m);
}

void localSizes(Model& m) {
  for (const Expr* e : m.kinds.localSizes()) {
    m.context.diags.report(DiagID::LocalRows, e->getSourceRange());
    m.context.edits.wrap(e, numberIn(m, "hvd::local_batch_size", e), ownRows(m, e), {DiagID::LocalRows, "rows of this rank's slice"});
  }
}

// Why batches cannot grow with the number of ranks, in front of what that mode does (`asked`), or alone.
std::string whyOnlyGlobal(const Model& m, bool asked) {
  if (!m.handUpdates.empty() && m.unknownBatch == m.handUpdates.front().read)
    return std::string("parameters are updated by hand here, at a rate that is not seen") + (asked ? ", so it could not follow the size of batches, which" : "");
  if (m.ownStep && m.unknownBatch == m.ownStep)
    return "'" + m.context.dialect.recordOf(m.ownStep->getType())->getNameAsString() + "' is an optimizer of the program's own, and how its rate is to grow with the batch is not known" + (asked ? ", so it could not follow the size of batches, which" : "");
  if (m.ruleUnclear && m.unknownBatch == m.ruleUnclear)
    return "some losses are sums and some are means, and how the learning rate is to follow the size of the batch is not known (choose: --lr-scaling=linear, sqrt or none)";
  if (m.otherUse && m.unknownBatch == m.otherUse)
    return "'" + m.text(m.otherUse) + "' is the size of a batch, and here it is something else (name the two apart)" + (asked ? "; the size of these batches" : "");
  if (m.countedOtherwise && m.unknownBatch == m.countedOtherwise)
    return "'" + m.text(m.countedOtherwise) + "' counts batches with the number that is their size, written once more, and would count too many (give the size a name, and use it in both places)" + (asked ? "; the size of these batches" : "");
  if (m.overrun.at && m.unknownBatch == m.overrun.at && m.overrun.kind == Overrun::Kind::Part)
    return "'" + m.text(m.overrun.at) + "' is of as many samples as the batches that are written here, and stays so in larger ones (write the size of the batch there)" + (asked ? "; the size of these batches" : "");
  if (m.overrun.at && m.unknownBatch == m.overrun.at && m.overrun.kind == Overrun::Kind::Buffer)
    return "'" + m.text(m.overrun.at) + "' is one of a fixed number of elements, and a larger batch has more rows (make as many as the size of the batch says)" + (asked ? "; the size of these batches" : "");
  if (m.overrun.at && m.unknownBatch == m.overrun.at)
    return "'" + m.text(m.overrun.at) + "' is counted from where a batch begins, and of a larger last batch it may lie behind the data (end each batch with them: std::min(begin + size, rows))" + (asked ? "; the size of these batches" : "");
  if (!m.batches.allData().empty() && !m.fixedBatch)
    return asked ? "every step uses all samples: there are no more of them, and the size of the batch" : "every step uses all samples";
  if (!m.fixedBatch) return asked ? "cannot find the batch size of this loop, which" : "the size of these batches has no visible source";
  return "'" + m.fixedBatch->getNameAsString() + "' is a number that the compiler must know (an extent, a template argument)" + (asked ? ", and" : "");
}

}  // namespace

const Expr* countedWhole(const Model& m, const Expr* count) {
  count = strip(count);
  const Entry* entry = calleeOf(count) ? m.context.dialect.lookup(count) : nullptr;
  const Expr* batch = entry && entry->op == OpKind::Size && objectOf(count) ? strip(objectOf(count)) : nullptr;
  return batch && m.batches.shards().count(batch) && dimensionOf(count, *entry, m.context.ast).value_or(1) == 0 ? batch : nullptr;
}

bool gatheredWhole(const Model& m, const Expr* rows) {
  rows = strip(rows);
  return m.batches.shards().count(rows) && !m.context.dialect.is(rows, Role::RandomDraw);
}

std::vector<RowCut> rowCuts(const Model& m) {
  // A random draw inside a step is made alike on all ranks: from the stream that they share.
  const auto prefix = [&](const Expr* e) { return m.context.dialect.is(e, Role::RandomDraw) ? "hvd::whole_draw().shard(" : "hvd::shard("; };
  llvm::DenseSet<const Expr*> whole;
  for (const Expr* e : m.kinds.rowCounts())
    if (const Expr* s = countedWhole(m, e)) whole.insert(s);
  for (const auto& [e, v] : m.kinds.reductions())
    if (v.kind == Kind::Sharded && gatheredWhole(m, e)) whole.insert(strip(e));
  std::vector<RowCut> cuts;
  for (const Expr* s : m.batches.shards())
    if (!whole.count(s)) cuts.push_back({s, prefix(s), m.batches.liesSecond(s) ? ", 1)" : ")", false});
  for (const Expr* d : m.kinds.wholeDraws()) cuts.push_back({d, prefix(d), ownRows(m, d), true});
  return cuts;
}

// `auto& x = batches[i];`: this rank's rows are a new tensor, which a reference that could change it does not bind to.
static void holdsRows(Model& m, const VarDecl* v) {
  const TypeSourceInfo* written = v->getTypeSourceInfo();
  const auto reference = written ? written->getTypeLoc().getAs<LValueReferenceTypeLoc>() : LValueReferenceTypeLoc();
  if (!reference) return;
  const SourceLocation at = reference.getAmpLoc();
  const bool apart = isWhitespace(*m.context.ast.getSourceManager().getCharacterData(at.getLocWithOffset(1))) || isWhitespace(*m.context.ast.getSourceManager().getCharacterData(at.getLocWithOffset(-1)));
  m.context.edits.replace(SourceRange(at, at), apart ? "" : " ", {DiagID::LoopSliced, "this rank's rows"});
}

void shardBatches(Model& m) {
  keepOrder(m);
  Loaders sharded;
  for (const LoaderLoop& l : m.batches.loaderLoops()) {
    if (!l.sharded()) {
      const auto& all = m.batches.loaderLoops();
      if (llvm::any_of(all, [&](const LoaderLoop& other) { return other.sharded() && other.loop->getBeginLoc() == l.loop->getBeginLoc(); }))
        m.context.diags.report(DiagID::KindUnknown, l.loader->getSourceRange(), m.text(l.loader),
                               std::string("this loop trains in one instantiation of its template and only reads in another, which cannot be shared out: ") + l.whole);
      m.context.diags.report(DiagID::LoaderWhole, l.loop->getBeginLoc(), m.text(l.loader), l.whole);
      // Inside a step: all ranks must go through it in the same order.
      if (m.context.dialect.ownStepDraws() && m.batches.inStep(l.loop) > 0)
        for (const Expr* o : m.definitions.origins(l.loader))
          if (samplerPlace(m.context.dialect, o).form != SamplerPlace::Form::Nowhere) shardSampler(m, o, l.loader, sharded);
      continue;
    }
    m.context.summary.sharedEvaluation = m.context.summary.sharedEvaluation || !l.trains;
    m.context.diags.report(DiagID::LoaderSliced, l.loop->getBeginLoc());
    const Why why{DiagID::LoaderSliced, "this rank's slice of every batch"};
    if (l.iterators.empty()) m.context.edits.wrap(l.loader, "hvd::steps(", ")", why);
    for (const Expr* i : l.iterators)
      m.context.edits.replace(i, "hvd::steps(" + m.text(l.loader) + ")." + calleeOf(i)->getNameAsString() + "()", why);
    shardOrigins(m, l.loader, sharded);
  }
  for (const HandIterator& it : m.batches.handIterators()) {
    // A pass over samples that all ranks look at begins alike on all of them.
    for (const Expr* e : it.ends)
      if (it.looks && calleeName(e) == "begin" && m.batches.inStep(e) > 0) {
        m.context.diags.report(DiagID::AlikeCall, e->getSourceRange(), m.text(e));
        m.context.edits.wrap(e, "hvd::outside_step().keep(", ")", {DiagID::AlikeCall, "the same on all ranks already"});
      }
    if (!it.loop) continue;
    m.context.diags.report(DiagID::LoaderSliced, it.ends.front()->getBeginLoc());
    for (const Expr* e : it.ends)
      m.context.edits.replace(e, "hvd::batches(" + m.text(it.loader) + (calleeName(e) == "begin" && takesOwnRows(m, it) ? ", hvd::own_rows)." : ").") + calleeOf(e)->getNameAsString() + "()", {DiagID::LoaderSliced, "this rank's slice of every batch"});
    shardOrigins(m, it.loader, sharded);
  }
  nameSharded(m, sharded);
  for (const HandLoop& h : m.batches.handLoops()) {
    const bool cutsOut = llvm::any_of(m.batches.shards(), [&](const Expr* s) { return !m.batches.isAllData(s) && m.batches.belongs(s, h.loop); });
    const bool usesAll = !cutsOut && llvm::any_of(m.batches.shards(), [&](const Expr* s) { return m.batches.belongs(s, h.loop); });
    m.context.diags.report(DiagID::LoopSliced, h.loop->getBeginLoc(), usesAll ? "all samples, which every step of this loop uses" : "the batch that this loop cuts out");
    m.context.edits.insertAtStart(loopBody(h.loop), "hvd::StepScope " + m.freeName("hvd_step") + ";", {DiagID::LoopSliced, "one step"});
  }
  for (const ValueDecl* d : m.batches.allData()) m.context.diags.report(DiagID::AssumeBatchFirst, d->getLocation(), d->getNameAsString());
  for (const RowCut& c : rowCuts(m)) {
    m.context.edits.wrap(c.rows, c.before, c.after,
                         {DiagID::LoopSliced, c.draw ? "made for the whole batch, then cut: the same on any number of ranks" : "this rank's rows"});
    if (const VarDecl* v = referenceTo(m.code, c.rows)) holdsRows(m, v);
  }
  for (const Expr* t : m.kinds.likes())
    m.context.edits.wrap(t, "hvd::global_like(", ")", {DiagID::LoopSliced, "the extents of the whole batch"});
  for (const auto& [state, dim] : m.kinds.carriedStates()) {
    m.context.diags.report(DiagID::StateCarried, state->getSourceRange(), m.text(state));
    m.context.edits.wrap(state, "hvd::carried(", dim == 0 ? ")" : ", " + std::to_string(dim) + ")", {DiagID::StateCarried, "this rank's rows of it"});
  }
  keepToOwnSamples(m);
  startDraws(m);
  for (const Expr* d : m.kinds.sharedDraws()) {
    m.context.diags.report(DiagID::DrawShared, d->getSourceRange(), m.text(d));
    const bool seeds = d->getType()->isVoidType();  // nothing to keep
    m.context.edits.wrap(d, seeds ? "(hvd::whole_draw(), " : "hvd::whole_draw().keep(", ")", {DiagID::DrawShared, "drawn alike on all ranks"});
  }
}

void scaleBatchSize(Model& m) {
  const bool asked = m.context.options.batchAsked;
  if (m.unknownBatch && m.context.options.batch == BatchPolicy::PerRank && m.context.options.batchesGrow)
    m.context.diags.report(!asked ? DiagID::BatchOnlyGlobal : m.unknownBatch == m.ruleUnclear ? DiagID::MixedLosses : DiagID::BatchSizeUnknown, m.unknownBatch->getBeginLoc(), whyOnlyGlobal(m, asked));
  // A size that is not multiplied in one loop must not be in another.
  if (m.unknownBatch) return localSizes(m);
  for (const Expr* e : m.batchSize.places()) {
    const std::string text = m.text(e);
    m.context.diags.report(DiagID::BatchSizeScaled, e->getSourceRange(), text);
    if (m.context.summary.batchSize.empty()) m.context.summary.batchSize = text;
    m.context.edits.wrap(e, numberIn(m, "hvd::global_batch_size", e), ")", {DiagID::BatchSizeScaled, "the size of the global batch"});
  }
  for (const Expr* e : m.writtenAgain) {
    if (!m.context.edits.canEdit(e->getSourceRange())) continue;
    m.context.diags.report(DiagID::BatchSizeAgain, e->getSourceRange(), m.text(e));
    m.context.edits.wrap(e, numberIn(m, "hvd::global_batch_size", e), ")", {DiagID::BatchSizeAgain, "the size of the global batch"});
  }
  for (const Expr* e : m.unclearSizes)
    if (m.context.options.batch == BatchPolicy::PerRank) m.context.diags.report(DiagID::SizeAgainUnclear, e->getSourceRange(), m.text(e));
  localSizes(m);
}

}  // namespace hvdize
