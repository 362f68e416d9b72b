// SPDX-License-Identifier: Apache-2.0
// Numbers of this rank's batch that must be those of the whole batch before anything else is made of them: the divisor in
// `sum / count.clamp_min(1)`. No gradient may flow through what is combined over ranks.
#include "clang/AST/StmtCXX.h"

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
  if (v.earlier || (v.kind == Kind::Mean && v.thin)) return false;  // of the batch before; perhaps one number for each sample
  return v.kind == Kind::Mean || v.kind == Kind::Sum || v.kind == Kind::Max || v.kind == Kind::Min || v.kind == Kind::CountMean;
}

Value Kinds::combined(const Value& v) {
  Value whole(v.graded ? Kind::Whole : Kind::Uniform);
  whole.power = v.power + (v.kind == Kind::Sum || v.kind == Kind::Rows ? 1 : 0);
  return whole;
}

// A number of the whole batch that samples meet, each rank's its own: the gradient that it gets from those of all ranks flows back to the samples of
// all (torch_binding::with_gradient_of_mean).
Value Kinds::coupled(const Value& v) {
  if (!v.graded || v.gradedDivisor || (v.kind != Kind::Mean && v.kind != Kind::Sum && v.kind != Kind::CountMean && v.kind != Kind::Sharded)) return combined(v);
  Value whole(Kind::Uniform);
  whole.graded = whole.coupled = true;
  whole.power = combined(v).power;
  return whole;
}

// Is there a loss that is no sum or mean over samples, so that the gradients of the ranks would not add up?
bool Kinds::lossesAreUnclear() {
  return llvm::any_of(sites_.of(Role::Backward), [&](const Site& s) {
    const Expr* loss = objectOf(s.call);
    const Value v = loss && batches_.inStep(s.call) > 0 ? of(loss) : Value();
    return v.kind == Kind::Unknown || v.kind == Kind::Whole || (v.gradedDivisor && v.dependsOnSamples()) || (v.coupled && v.kind == Kind::Sum);
  });
}

bool Kinds::mayBeGradedWhole(const Value& number) const {
  return gradedNumbers_ && number.graded && !number.carried && !number.earlier && !number.gradedDivisor && (number.kind == Kind::Mean || number.kind == Kind::Sum);
}

// What all ranks make of numbers of the whole batch: each rank's part of its gradient is weighted as that of a mean.
Value Kinds::gradedMean(const Value& whole) const {
  Value v(Kind::Mean);
  v.graded = true;
  v.power = whole.power;
  return v;
}

// A function that is not linear, of a number of the batch: applied after the reduction.
Value Kinds::reducedFirst(const Expr* e, const Value& number, const Expr* spelled) {
  if (batches_.inStep(e) == 0 || changesFirst(e)) return elementwise(number, e);
  if (const Value whole = coupled(number); gradedRows_ && !gradedNumbers_ && whole.coupled && whole.power == 0 && !number.carried) {
    if (recording_) reductions_[spelled] = number;
    return whole;
  }
  // Of a number that grows with the batch its growth is not known.
  if (const Value whole = combined(number); mayBeGradedWhole(number) && whole.power == 0) {
    if (recording_) reductions_[spelled] = number, gradedReductions_.insert(spelled);
    return gradedMean(whole);
  }
  if (recording_) reductions_[spelled] = number;
  return combined(number);
}

// `p.mul_(1 - seconds)` for a parameter p: the ranks' models would no longer be the same.
void Kinds::steersModel(const Expr* e, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const Expr*> spelled) {
  if (!changesFirst(e)) return;
  const auto ofModel = [&](const Expr* changed) {
    bool found = false;
    std::vector<const Expr*> made = definitions_.origins(changed);
    const auto* v = dyn_cast_or_null<VarDecl>(rootOf(changed));  // for (auto& p : net->parameters())
    const DeclStmt* ds = v ? code_.declStmt(v) : nullptr;
    if (const auto* range = dyn_cast_or_null<CXXForRangeStmt>(ds ? code_.parent(ds) : nullptr)) made.push_back(range->getRangeInit());
    for (const Expr* o : made)
      forEachExpr(o, [&](const Expr* x) {
        const auto* member = dyn_cast<MemberExpr>(x);
        found = found || dialect_.is(x, Role::Parameters) || (member && isTensor(member->getType()) && dialect_.is(member->getBase()->getType(), Role::Module));
      });
    return found;
  };
  for (size_t i = 1; i < operands.size(); ++i)
    if (operands[i].kind == Kind::RankLocal && ofModel(spelled[0])) problem(spelled[i], operands[i], "a value that only this rank has would change the model");
}

Value Kinds::withNumbers(const Expr* e, Growth growth, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const Expr*> spelled,
                         llvm::function_ref<Value(llvm::ArrayRef<Value>)> combine) {
  const Value v = combine(operands);
  const bool graded = gradedNumbers_ && v.gradedDivisor && llvm::none_of(operands, [](const Value& x) { return x.gradedDivisor; });  // by this quotient
  if ((v.kind != Kind::Unknown && !graded) || batches_.inStep(e) == 0) return v;
  if (llvm::any_of(operands, [](const Value& x) { return x.kind == Kind::Unknown || x.kind == Kind::RankLocal; })) return v;
  // First without those through which gradients flow, then with them: what is made of all of them must then be one number that all ranks have. Where no
  // loss asks for such gradients (10 * log10(4 / mse), to be shown), it is one without.
  for (const bool gradients : {false, true}) {
    llvm::SmallVector<Value, 4> whole(operands.begin(), operands.end());
    llvm::SmallVector<size_t, 4> which;
    for (size_t i = changesFirst(e) ? 1 : 0; i < whole.size(); ++i) {
      if (!isNumberOfBatch(whole[i]) || whole[i].carried) continue;
      if (whole[i].graded && !(gradients && (mayBeGradedWhole(whole[i]) || !gradedNumbers_))) continue;
      whole[i] = gradedRows_ && gradients ? coupled(whole[i]) : combined(whole[i]);
      which.push_back(i);
    }
    if (which.empty()) continue;
    const auto fits = [&](size_t i) { return !operands[i].graded || growth == Growth::Any || whole[i].power == (growth == Growth::None ? 0 : whole[which.front()].power); };
    if (gradients && !llvm::all_of(which, fits)) continue;
    const Value other = combine(whole);
    // By samples of this rank; those of the batch before have weights of their own.
    const bool met = gradedRows_ && other.coupled && other.dependsOnSamples() && llvm::none_of(operands, [](const Value& x) { return x.earlier; });
    if (other.kind == Kind::Unknown || (gradients && !other.isUniform() && !met)) continue;
    for (size_t i : which) {
      leaves(operands[i], e);
      if (recording_) reductions_[spelled[i]] = operands[i];
      if (recording_ && operands[i].graded && gradedNumbers_ && !met) gradedReductions_.insert(spelled[i]);
    }
    countedMeans_.erase(e);  // no quotient of this rank's sums any more
    return gradients && gradedNumbers_ && !met ? gradedMean(other) : other;
  }
  return v;
}

}  // namespace hvdize
