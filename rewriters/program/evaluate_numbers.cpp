// SPDX-License-Identifier: Apache-2.0
// Numbers of this rank's batch that must be those of the whole batch before anything else is made of them: the divisor in
// `sum / count.clamp_min(1)`. No gradient may flow through what is combined over ranks.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

namespace {

// The tensor that `e` changes is its first operand: what is combined would be a copy of it.
bool changesFirst(const Expr* e) {
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->isAssignmentOp();
  const FunctionDecl* f = calleeOf(e);
  return f && f->getDeclName().isIdentifier() && f->getName().ends_with("_");
}

}  // namespace

bool Kinds::isNumberOfBatch(const Value& v) {
  if (v.earlier) return false;  // of the batch before
  return v.kind == Kind::Mean || v.kind == Kind::Sum || v.kind == Kind::Max || v.kind == Kind::Min || v.kind == Kind::CountMean;
}

Value Kinds::combined(const Value& v) {
  Value whole(v.graded ? Kind::Whole : Kind::Uniform);
  whole.power = v.power + (v.kind == Kind::Sum || v.kind == Kind::Rows ? 1 : 0);
  return whole;
}

// A function that is not linear, of a number of the batch: applied after the reduction.
Value Kinds::reducedFirst(const Expr* e, const Value& number, const Expr* spelled) {
  if (batches_.inStep(e) == 0 || changesFirst(e)) return elementwise(number, e);
  if (recording_) reductions_[spelled] = number;
  return combined(number);
}

Value Kinds::withNumbers(const Expr* e, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const Expr*> spelled,
                         llvm::function_ref<Value(llvm::ArrayRef<Value>)> combine) {
  const Value v = combine(operands);
  if (v.kind != Kind::Unknown || batches_.inStep(e) == 0) return v;
  if (llvm::any_of(operands, [](const Value& x) { return x.kind == Kind::Unknown || x.kind == Kind::RankLocal; })) return v;
  llvm::SmallVector<Value, 4> whole(operands.begin(), operands.end());
  llvm::SmallVector<size_t, 4> which;
  for (size_t i = changesFirst(e) ? 1 : 0; i < whole.size(); ++i) {
    if (!isNumberOfBatch(whole[i]) || whole[i].graded || whole[i].carried) continue;
    whole[i] = combined(whole[i]);
    which.push_back(i);
  }
  if (which.empty()) return v;
  const Value other = combine(whole);
  if (other.kind == Kind::Unknown) return v;
  for (size_t i : which) {
    leaves(operands[i], e);
    if (recording_) reductions_[spelled[i]] = operands[i];
  }
  return other;
}

}  // namespace hvdize
