// SPDX-License-Identifier: Apache-2.0
// Loops over a number of steps that is written in the program: with a larger global batch they see more data.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// `++i`, also as one of several, `++i, ++seen`, of the variable that the condition asks about.
bool countsUp(const Expr* increment, const ValueDecl* asked) {
  increment = increment->IgnoreParenImpCasts();
  if (const auto* both = dyn_cast<BinaryOperator>(increment); both && both->getOpcode() == BO_Comma)
    return countsUp(both->getLHS(), asked) || countsUp(both->getRHS(), asked);
  const auto* u = dyn_cast<UnaryOperator>(increment);
  return u && u->isIncrementOp() && declOf(u->getSubExpr()) == asked;
}

// `for (...; i < count; ++i)`: the count, when nothing but literals makes it.
const Expr* literalCount(const Model& m, const Stmt* loop) {
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* condition = f ? dyn_cast_or_null<BinaryOperator>(f->getCond() ? f->getCond()->IgnoreParenImpCasts() : nullptr) : nullptr;
  const ValueDecl* asked = condition && condition->isComparisonOp() ? declOf(condition->getLHS()) : nullptr;  // not `i * batch`
  if (!asked || !f->getInc() || !countsUp(f->getInc(), asked)) return nullptr;
  const auto origins = m.definitions.origins(condition->getRHS());
  for (const Expr* o : origins)
    if (!isa<IntegerLiteral>(strip(o))) return nullptr;
  return origins.empty() ? nullptr : condition->getRHS();
}

// The loop whose rounds are steps: one around `loop`, where that only adds up gradients for a step. Null where it is elsewhere.
const Stmt* loopOfSteps(const Model& m, const Stmt* loop) {
  if (!m.handUpdates.empty() || m.sites.reaches(loopBody(loop), Role::Step)) return loop;
  for (const Stmt* around : m.sites.loopsAround(loop))
    if (m.sites.reaches(loopBody(around), Role::Step)) return around;
  return nullptr;
}

}  // namespace

void countSteps(Model& m) {
  if (m.unknownBatch) return;
  llvm::DenseSet<const Expr*> counted;
  for (const HandLoop& h : m.batches.handLoops()) {
    // Parts of a loader's batches are no steps, nor are samples that are collected.
    const Stmt* loop = h.trains && !m.batches.isPartLoop(h.loop) && !m.collectsRows(h.loop) ? loopOfSteps(m, h.loop) : nullptr;
    const Expr* count = loop ? literalCount(m, loop) : nullptr;
    if (!count || !counted.insert(count).second) continue;
    if (m.context.options.steps == StepPolicy::Divide) {
      m.context.diags.report(DiagID::StepCountDivided, count->getSourceRange(), m.text(count));
      m.context.edits.wrap(count, "hvd::scaled_steps(", ")", {DiagID::StepCountDivided, "the same number of samples"});
    } else if (m.context.options.batch == BatchPolicy::PerRank) {
      m.context.diags.report(DiagID::LiteralStepCount, loop->getBeginLoc(), m.text(count));
    }
  }
}

}  // namespace hvdize
