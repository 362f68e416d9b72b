// SPDX-License-Identifier: Apache-2.0
// Kinds of variables that one kind for all their uses does not describe.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Where the framework seeds its stream from entropy, each process has drawn other numbers by the time its session opens.
Value Kinds::beforeMain(const VarDecl* v, const Value& given) const {
  bool drawn = false;
  if (dialect_.ownStepDraws() && isTensor(v->getType()))
    forEachExpr(v->getInit(), [&](const Expr* x) { drawn = drawn || (calleeOf(x) && dialect_.is(x, Role::RandomDraw)); });
  return drawn ? Value::rankLocal(v->getInit(), "it is drawn before main begins, on each rank from a stream of its own") : given;
}

// `x = x.transpose(0, 1)`: of a variable whose samples run along different dimensions, the value at `use`.
Value Kinds::valueAt(const ValueDecl* d, const Expr* use, const Value& any) {
  const auto* variable = dyn_cast<VarDecl>(d);
  if (!variable || !open_.insert(use).second) return variable ? Value() : any;
  bool start = false;
  Value v = any;
  if (const auto values = ranks_.reaching(variable, use, start)) {
    v = start ? atStart_.lookup(cast<ParmVarDecl>(variable)) : Value();
    for (const Expr* x : *values) v = join(v, eval(x));
  }
  open_.erase(use);
  return v;
}

// x.grad() of what is made from the samples, x.grad() of a parameter: the gradients of samples are theirs alone, and weighted as the loss is.
Value Kinds::gradientOf(const Value& tensor) {
  if (!tensor.dependsOnSamples()) return Kind::Uniform;
  Value v = tensor;
  v.graded = v.gradedDivisor = false;
  return v;
}

}  // namespace hvdize
