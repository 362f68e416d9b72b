// SPDX-License-Identifier: Apache-2.0
// Tensors and lists of them that change places: std::swap, std::reverse, iterators over such lists.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// An iterator of a container: no value of its own that ranks could put together. Or what insert() and emplace() of a map give: it, and whether it is new.
bool isIterator(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  if (!r || !r->getIdentifier() || !isSystemDecl(r)) return false;
  const auto* s = dyn_cast<ClassTemplateSpecializationDecl>(r);
  if (s && s->isInStdNamespace() && s->getName() == "pair") {
    const TemplateArgument& first = s->getTemplateArgs()[0];
    return first.getKind() == TemplateArgument::Type && isIterator(first.getAsType());
  }
  return r->getName().contains_insensitive("iterator");
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
  // auto old = std::exchange(last, loss.detach());
  if (f && f->isInStdNamespace() && calleeName(e) == "exchange" && given.size() == 2 && isTensor(given[0]->getType())) {
    const Value before = eval(given[0]), now = eval(given[1]);
    const bool outside = batches_.inStep(e) > 0 && declaredOutsideStep(given[0], e);
    if (outside && (now.kind == Kind::Sharded || now.kind == Kind::Second)) {
      const Value kept = Value::unknown(e, "rows of this batch are kept for a later step, whose batch has a slice of its own");
      assign(given[0], kept);
      return kept;
    }
    assign(given[0], keptEntry(given[1], now, outside ? Outlives::Assigned : Outlives::No));
    return before;
  }
  // `batch.has_value()`: nothing of what stands in it.
  if (const Expr* held = askedWhetherHeld(e))
    if (const Value v = eval(held); v.kind == Kind::Sharded || v.kind == Kind::Second) return Value(Kind::Uniform);
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
