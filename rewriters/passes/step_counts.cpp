// SPDX-License-Identifier: Apache-2.0
// Loops over a number of steps that is written in the program: with a larger global batch they see more data.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// `for (...; i < count; ++i)`: the count, when nothing but literals makes it.
const Expr* literalCount(const Model& m, const Stmt* loop) {
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* condition = f ? dyn_cast_or_null<BinaryOperator>(f->getCond() ? f->getCond()->IgnoreParenImpCasts() : nullptr) : nullptr;
  const auto* increment = f ? dyn_cast_or_null<UnaryOperator>(f->getInc() ? f->getInc()->IgnoreParens() : nullptr) : nullptr;
  if (!condition || !condition->isComparisonOp() || !increment || !increment->isIncrementOp()) return nullptr;
  const auto origins = m.definitions.origins(condition->getRHS());
  for (const Expr* o : origins)
    if (!isa<IntegerLiteral>(strip(o))) return nullptr;
  return origins.empty() ? nullptr : condition->getRHS();
}

}  // namespace

void countSteps(Model& m) {
  if (m.unknownBatch) return;
  for (const HandLoop& h : m.batches.handLoops()) {
    // Parts of a loader's batches are no steps.
    const Expr* count = h.trains && !m.batches.isPartLoop(h.loop) ? literalCount(m, h.loop) : nullptr;
    if (!count) continue;
    if (m.context.options.steps == StepPolicy::Divide) {
      m.context.diags.report(DiagID::StepCountDivided, count->getSourceRange(), m.text(count));
      m.context.edits.wrap(count, "hvd::scaled_steps(", ")", {DiagID::StepCountDivided, "the same number of samples"});
    } else if (m.context.options.batch == BatchPolicy::PerRank) {
      m.context.diags.report(DiagID::LiteralStepCount, h.loop->getBeginLoc(), m.text(count));
    }
  }
}

}  // namespace hvdize
