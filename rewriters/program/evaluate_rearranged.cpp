// SPDX-License-Identifier: Apache-2.0
// Tensors and lists of them that change places: std::swap, std::reverse, iterators over such lists.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// An iterator of a container: no value of its own that ranks could put together.
bool isIterator(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->getIdentifier() && isSystemDecl(r) && r->getName().contains_insensitive("iterator");
}

// Nothing for other calls, and where a list with one entry for each sample is put into another order.
std::optional<Value> Kinds::evalRearranged(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  const auto given = argumentsOf(e);
  if (swaps(e)) {
    const Value a = eval(given[0]), b = eval(given[1]);
    assign(given[0], b);
    assign(given[1], a);
    return Kind::Uniform;
  }
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool compares = o && o->getNumArgs() == 2 && (o->isComparisonOp() || o->getOperator() == OO_Spaceship);
  const bool orders = f && f->isInStdNamespace() && !o && (calleeName(e) == "reverse" || calleeName(e) == "rotate" || calleeName(e) == "iter_swap");
  const llvm::SmallVector<const Expr*, 4> iterators = compares ? llvm::SmallVector<const Expr*, 4>{o->getArg(0), o->getArg(1)} : given;
  if ((!compares && !orders) || iterators.empty() || !llvm::all_of(iterators, [](const Expr* x) { return isIterator(x->getType()); })) return std::nullopt;
  bool tensors = false;
  for (const Expr* x : iterators) {
    const Value v = eval(x);
    if (v.kind == Kind::Unknown || v.listed) return std::nullopt;
    tensors = tensors || v.kind == Kind::Sharded || v.kind == Kind::Second;
  }
  return tensors ? std::optional<Value>(Kind::Uniform) : std::nullopt;
}

}  // namespace hvdize
