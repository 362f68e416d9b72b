// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Through a std::function or a pointer that may hold what is not seen here: numbers go in whole, and of tensors nothing is known.
Value Kinds::evalUnseen(const Expr* e) {
  Value v(Kind::Uniform);
  const auto* c = dyn_cast<CallExpr>(e);
  if (!c) return v;
  // `late()`, one of several conditions of which one asks a clock.
  if (e->getType()->isArithmeticType())
    for (const FunctionDecl* f : code_.candidates(e->getType()))
      if (const Value given = returns_.lookup(f->getCanonicalDecl()); given.kind == Kind::RankLocal) v = join(v, given);
  for (const Expr* a : argumentsOf(e)) {
    const Value at = isTensor(e->getType()) ? eval(a) : host(a);
    if (isTensor(e->getType()) && at.dependsOnSamples())
      return Value::unknown(e, "which function this object holds cannot be seen, so neither can what it does with the samples");
    v = join(v, at);
  }
  return v;
}

}  // namespace hvdize
