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

// A tensor of the author's own that gradients are collected for: `auto w = torch::randn({5}, torch::requires_grad())`.
bool Kinds::isParameter(const ValueDecl* d) {
  if (!isTensor(d->getType())) return false;
  const auto [it, fresh] = parameters_.try_emplace(d, false);
  if (!fresh) return it->second;
  const auto asks = [&](const Expr* x) {
    const FunctionDecl* f = calleeOf(x);
    return f && f->getDeclName().isIdentifier() && dialect_.lookup(x) &&
           (f->getName().starts_with("requires_grad") || f->getName() == "set_requires_grad" || f->getName() == "register_parameter");
  };
  bool found = false;
  for (const Definition& def : definitions_.of(d))
    if (def.value) forEachExpr(def.value, [&](const Expr* x) { found = found || asks(x); });
  for (const Expr* use : definitions_.uses(d)) {
    const auto* member = dyn_cast_or_null<MemberExpr>(code_.parent(use));
    const auto* call = member ? dyn_cast_or_null<CallExpr>(code_.parent(member)) : nullptr;
    found = found || (call && asks(call) && (!argumentsOf(call).empty() || member->getMemberDecl()->getName().ends_with("_")));
  }
  return parameters_[d] = found;
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
