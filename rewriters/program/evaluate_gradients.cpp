// SPDX-License-Identifier: Apache-2.0
// Kinds of gradients that the program asks for itself: a penalty on the gradients of a critic, the derivatives of an equation.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// x.grad() of what is made from the samples, x.grad() of a parameter: the gradients of samples are theirs alone, and weighted as the loss is.
Value Kinds::gradientOf(const Value& tensor) {
  if (!tensor.dependsOnSamples()) return Kind::Uniform;
  Value v = tensor;
  v.graded = v.gradedDivisor = false;
  return v;
}

// autograd::grad(outputs, inputs, grad_outputs, ..): with respect to the samples. The output of a sample depends on that sample alone, so a sum
// over them gives each its own gradient, whatever other ranks hold. A mean would give gradients that shrink with the size of the slice.
Value Kinds::evalGradients(const Expr* e) {
  const auto given = argumentsOf(e);
  for (const Expr* a : given) eval(a);
  if (given.size() < 2) return Kind::Uniform;
  const Value outputs = eval(given[0]), inputs = eval(given[1]), factors = given.size() > 2 ? eval(given[2]) : Value();
  if (outputs.isUniform() && factors.isUniform()) {
    if (!inputs.dependsOnSamples()) return Kind::Uniform;
    if (!settled_) return {};  // what a function of the author's returns may come later
    return Value::unknown(e, "what is differentiated does not depend on the samples");
  }
  // The derivative of one of several parts that have a kind of their own is not looked at.
  if (outputs.kind == Kind::Unknown) return outputs;
  if (inputs.isUniform() && !settled_) return {};  // nor are the callers of a helper all known yet
  if (inputs.kind != Kind::Sharded || inputs.selected)
    return Value::unknown(e, "gradients of what depends on the samples, with respect to what all ranks have alike, would stay those of one rank's samples");
  const bool rows = outputs.kind == Kind::Sharded && (factors.isUniform() || factors.kind == Kind::Sharded);
  const bool sum = outputs.kind == Kind::Sum && outputs.power == 0 && factors.isUniform();
  if (!rows && !sum) return Value::unknown(e, "the gradients of a mean over this rank's samples grow as its slice shrinks (differentiate the sum, or give ones as grad_outputs)");
  Value v = inputs;
  v.graded = true;
  return v;
}

}  // namespace hvdize
