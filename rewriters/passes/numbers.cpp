// SPDX-License-Identifier: Apache-2.0
// Numbers that a rank computes from its slice become those of the whole batch where they are born.
#include "rewriters/passes/common_numbers.h"
#include "rewriters/passes/macros.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// `loss` for loss.item<double>(): what a variable that holds the number is called.
std::string variableFor(Model& m, const Expr* e) {
  const ValueDecl* root = rootOf(e);
  const std::string base = (root && root->getDeclName().isIdentifier() && !root->getName().empty() ? root->getName().str() : std::string("number"));
  return m.variableFor(e, base);
}

// (2 * sum + 1), and not (a - b).sum() + (c)
bool isInParens(llvm::StringRef text) {
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == '"' || text[i] == '\'' || (open == 0 && i + 1 < text.size())) return false;
  }
  return text.starts_with("(");
}

// The call that writes a checkpoint with `e` among its arguments, or null.
const Stmt* saveAround(const Model& m, const Expr* e) {
  for (const Stmt* p = m.code.parent(e); p && isa<Expr>(p); p = m.code.parent(p))
    if (const auto* call = cast<Expr>(p); calleeOf(call) && m.context.dialect.is(call, Role::Save)) return call;
  return nullptr;
}

// The call of a template or a method that prints `e`: it is kept to one rank as a whole.
const Stmt* printAround(const Model& m, const Expr* e) {
  for (const Stmt* p = m.code.parent(e); p && isa<Expr>(p) && !isa<LambdaExpr>(p); p = m.code.parent(p))
    if (const FunctionDecl* f = calleeOf(cast<Expr>(p)); hasNoAddress(f) && hostRole(f) == HostRole::Print) return p;
  return nullptr;
}

// In the arguments of a macro that prints, the reduction is made before: on every rank, and once, however often the macro uses it. So is
// one that other places use, too.
void takeWhole(Model& m, const CommonNumbers& common, const Expr* e, const std::string& prefix, const std::string& suffix, const Why& why) {
  if (const Expr* first = common.first(e)) {
    const std::string name = variableFor(m, first);
    if (first == e) m.context.edits.insertBefore(common.statementOf(e), "const auto " + name + " = " + prefix + m.text(e) + suffix + ";", why);
    m.context.edits.replace(e, name, why);
    m.hoisted.insert(e);
    return;
  }
  // What is written to a checkpoint is made whole on every rank, and written by one.
  const Stmt* apart = saveAround(m, e);
  if (const Stmt* print = apart || !m.context.edits.canEdit(e->getSourceRange()) ? nullptr : printAround(m, e)) apart = macroOutput(m, e).statement ? nullptr : print;
  if (const Stmt* statement = apart || !m.kinds.held().count(e) ? apart : m.context.edits.enclosingStatement(e)) {
    const std::string name = variableFor(m, e);
    m.context.edits.insertBefore(statement, "const auto " + name + " = " + prefix + m.text(e) + suffix + ";", why);
    m.context.edits.replace(e, name, why);
    m.hoisted.insert(e);
    return;
  }
  const MacroOutput macro = macroOutput(m, e);
  if (!macro.statement || macro.leaves || !m.context.edits.canEdit(e->getSourceRange())) {
    m.context.edits.wrap(e, prefix, suffix, why);
    return;
  }
  const std::string name = variableFor(m, e);
  m.context.edits.insertBefore(macro.statement, "const auto " + name + " = " + prefix + m.text(e) + suffix + ";", why);
  m.context.edits.replace(e, name, why);
  m.hoisted.insert(e);
}

}  // namespace

void keepBatchDimension(Model& m) {
  for (const Expr* e : m.kinds.squeezes()) {
    const Why why{DiagID::BatchKept, "as for the whole batch"};
    m.context.diags.report(DiagID::BatchKept, e->getSourceRange(), m.text(e));
    const auto* call = cast<CallExpr>(e);
    if (const auto* member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts())) {
      m.context.edits.wrap(member->getBase(), calleeName(e) == "squeeze_" ? "hvd::squeeze_(" : "hvd::squeeze(", ")", why);
      m.context.edits.replace(SourceRange(member->getOperatorLoc(), call->getRParenLoc()), "", why);
    } else {
      m.context.edits.replace(call->getCallee()->getSourceRange(), "hvd::squeeze", why);
    }
  }
}

void reduceNumbers(Model& m) {
  checkInstances(m);
  const CommonNumbers common(m);
  for (const auto& [e, v] : m.kinds.reductions()) {
    if (v.kind == Kind::Sharded && gatheredWhole(m, e)) continue;
    DiagID id = DiagID::MeanReduced;
    std::string prefix = "hvd::batch_mean(", suffix = ")";
    const bool graded = m.kinds.gradedReductions().contains(e);
    if (graded && (v.kind == Kind::Mean || v.kind == Kind::Sum)) {
      const bool mean = v.kind == Kind::Mean;
      m.context.diags.report(DiagID::WholeWithGradient, e->getSourceRange(), m.text(e), mean ? "mean" : "sum");
      const std::string call = mean ? "hvd::batch_mean_with_grad" : "hvd::batch_sum_with_grad";
      const bool inParens = isInParens(m.text(e));
      takeWhole(m, common, e, inParens ? call : call + "(", inParens ? "" : ")", {DiagID::WholeWithGradient, "of the whole batch, with its gradient"});
      continue;
    }
    switch (v.kind) {
      case Kind::Mean: break;
      case Kind::Sum: id = DiagID::SumReduced; prefix = "hvd::batch_sum("; break;
      case Kind::Max: id = DiagID::ExtremumReduced; prefix = "hvd::batch_max("; break;
      case Kind::Min: id = DiagID::ExtremumReduced; prefix = "hvd::batch_min("; break;
      case Kind::Sharded: id = DiagID::RowsGathered; prefix = "hvd::gather("; break;
      case Kind::CountMean:
        prefix = "hvd::batch_count_mean(";
        suffix = ", " + countAt(m, v, e) + ")";
        break;
      default:
        m.context.diags.report(DiagID::KindUnknown, e->getSourceRange(), m.text(e), kindName(v.kind));
        continue;
    }
    if (id == DiagID::ExtremumReduced) m.context.diags.report(id, e->getSourceRange(), m.text(e), v.kind == Kind::Max ? "largest" : "smallest");
    else m.context.diags.report(id, e->getSourceRange(), m.text(e));
    takeWhole(m, common, e, prefix, suffix, {id, "of the whole batch"});
  }
  for (const auto& [d, left] : m.kinds.leftBehind()) {
    const char* call = left.kind.kind == Kind::Mean ? "hvd::batch_mean" : left.kind.kind == Kind::Max ? "hvd::batch_max"
                       : left.kind.kind == Kind::Min ? "hvd::batch_min" : "hvd::gather";
    const std::string name = d->getNameAsString();
    m.context.diags.report(DiagID::LeftBehind, left.loop->getBeginLoc(), name);
    m.context.edits.insertAtEnd(loopBody(left.loop), name + " = " + call + "(" + name + ");  // read after the loop",
                                {DiagID::LeftBehind, "of the whole batch"});
  }
  for (const Expr* e : m.kinds.shares()) {
    m.context.diags.report(DiagID::TermShared, e->getSourceRange(), m.text(e));
    m.context.edits.wrap(e, "hvd::share_of(", ")", {DiagID::TermShared, "over all ranks it counts once"});
  }
  llvm::SetVector<const Expr*> alike = m.kinds.alikeCalls();
  if (m.batchNorm && m.context.options.syncBatchNorm)
    for (const Expr* e : m.kinds.uniformForwards())
      if (llvm::none_of(m.kinds.alikeCalls(), [&](const Expr* outer) { return isWithin(m.code, e, outer); })) alike.insert(e);
  for (const Expr* e : alike) {
    m.context.diags.report(DiagID::AlikeCall, e->getSourceRange(), m.text(e));
    const Why why{DiagID::AlikeCall, "the same on all ranks already"};
    if (e->getType()->isVoidType()) m.context.edits.wrap(e, "(hvd::outside_step(), ", ")", why);
    else m.context.edits.wrap(e, "hvd::outside_step().keep(", ")", why);
  }
  for (const auto& [e, v] : m.kinds.countedMeans()) {
    m.context.diags.report(DiagID::CountedMean, e->getSourceRange(), m.text(e));
    m.context.edits.wrap(e, "hvd::counted_mean(", ", " + countAt(m, v, e) + ")", {DiagID::CountedMean, "a mean over the samples of the batch"});
  }
  for (const Expr* e : m.kinds.rowCounts()) {
    if (countedWhole(m, e)) continue;
    m.context.diags.report(DiagID::GlobalRows, e->getSourceRange(), m.text(e));
    m.context.edits.wrap(e, "hvd::global(", ")", {DiagID::GlobalRows, "rows of the whole batch"});
  }
}

namespace {

// A module, or something that holds one: a tensor, an optimizer and options have no running statistics.
bool holdsBuffers(const Model& m, const Expr* e) {
  const QualType t = strip(e)->getType();
  const auto is = [&](Role role) { return m.context.dialect.is(t.getNonReferenceType(), role); };
  if (is(Role::Tensor) || is(Role::Optimizer)) return false;
  // net->parameters(), and a variable that holds them: a list without statistics. Where net->buffers() makes it, that is a place of its own.
  if (!isStdRecord(t)) return true;
  const auto origins = m.definitions.origins(e);
  return origins.empty() || !llvm::all_of(origins, [&](const Expr* o) {  // empty: a shared_ptr whose model comes from elsewhere, say
    const Expr* made = strip(o);
    return m.context.dialect.is(made, Role::Parameters) || (made == strip(e) && m.context.dialect.is(made, Role::Buffers));
  });
}

// `net` of net->eval() and net->running_mean, `*this` in the model's own functions.
std::string modelAt(const Model& m, const Expr* e) {
  const Expr* object = objectOf(e);
  if (const auto* member = dyn_cast<MemberExpr>(e)) object = pointed(member->getBase());
  if (!object || isa<CXXThisExpr>(object)) return object ? "*this" : "";
  return m.text(object);
}

void synchronise(Model& m, const Expr* before, const std::string& model, const char* what) {
  if (model.empty()) return;
  m.context.diags.report(DiagID::BuffersSynchronised, before->getSourceRange(), model, what);
  m.context.edits.insertBefore(before, "hvd::sync_buffers(" + model + ");", {DiagID::BuffersSynchronised, "running statistics of all ranks"});
}

// `train()` and `train(true)`; another argument may switch to evaluation.
bool onlyTrains(const Model& m, const Expr* call) {
  bool value = false;
  return llvm::all_of(argumentsOf(call), [&](const Expr* a) { return a->EvaluateAsBooleanCondition(value, m.context.ast) && value; });
}

}  // namespace

void synchroniseBuffers(Model& m) {
  if (!m.batchNorm || m.context.options.syncBatchNorm) return;
  for (const Site& s : m.sites.of(Role::EvalMode)) synchronise(m, s.call, modelAt(m, s.call), "evaluation");
  for (const Site& s : m.sites.of(Role::TrainMode))
    if (!onlyTrains(m, s.call)) synchronise(m, s.call, modelAt(m, s.call), "evaluation");
  for (const Site& s : m.sites.of(Role::Buffers)) synchronise(m, s.call, modelAt(m, s.call), "they are read");
  for (const Site& s : m.sites.of(Role::Save)) {
    const auto arguments = argumentsOf(s.call);
    if (s.entry->model >= 0 && s.entry->model < static_cast<int>(arguments.size()) && holdsBuffers(m, arguments[s.entry->model]))
      synchronise(m, s.call, m.text(arguments[s.entry->model]), "saving");
  }
}

}  // namespace hvdize
