// SPDX-License-Identifier: Apache-2.0
// Numbers that say how far training has come: `step / total_steps` is the same weight for every size of batches, though the total follows that size.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Does the statement run once for each step: in one, or in the head of the loop over them?
bool Kinds::comesEachStep(const Stmt* s) const {
  if (batches_.inStep(s) > 0) return true;
  for (const Stmt *p = code_.parent(s), *below = s; p; below = p, p = code_.parent(p))
    if (const auto* loop = dyn_cast<ForStmt>(p)) return below == loop->getInc() && batches_.isStepLoop(loop);
  return false;
}

// A number that goes up in every step, and begins anew outside of them only: steps (`++step`), samples (`seen += x.size(0)`). What it is, read in a step.
Kinds::Progress Kinds::progressOf(const ValueDecl* d) {
  const auto* v = dyn_cast<VarDecl>(d);
  if ((!v && !isa<FieldDecl>(d)) || isa<ParmVarDecl>(d) || !d->getType()->isArithmeticType()) return Progress::None;
  if (const auto known = progress_.find(d); known != progress_.end()) return known->second;
  Progress found = Progress::None;
  bool other = false;
  for (const Definition& def : definitions_.of(d))
    if (!def.compound) other = other || def.through || (def.value && comesEachStep(def.value));
  for (const Expr* use : definitions_.uses(d)) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = code_.parent(p);
    const auto* u = dyn_cast_or_null<UnaryOperator>(p);
    const auto* sum = dyn_cast_or_null<BinaryOperator>(p);
    if (u && u->isIncrementDecrementOp()) {
      if (comesEachStep(u)) found = Progress::Steps;
      other = other || !u->isIncrementOp();
    } else if (sum && sum->isCompoundAssignmentOp() && strip(sum->getLHS()) == strip(use)) {
      const Expr* by = strip(sum->getRHS());
      if (comesEachStep(sum) && found == Progress::None) found = isa<IntegerLiteral, FloatingLiteral>(by) ? Progress::Steps : Progress::Samples;
      other = other || sum->getOpcode() != BO_AddAssign;
    }
  }
  return progress_[d] = other ? Progress::None : found;
}

// What the variable, a number that all ranks have alike, is in the step at hand.
Value Kinds::asProgress(const ValueDecl* d, const Expr* mention, Value v) {
  if (!v.isUniform() || !comesEachStep(mention)) return v;
  const Progress is = progressOf(d);
  if (is == Progress::None) return v;
  if (v.kind == Kind::BatchSize) v.kind = Kind::Uniform;  // seen += batch_size
  v.power = 0;
  v.steps = is == Progress::Steps;
  return v;
}

}  // namespace hvdize
