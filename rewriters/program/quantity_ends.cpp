// SPDX-License-Identifier: Apache-2.0
// Sizes that are cut short where the data end.
#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"

using namespace clang;

namespace hvdize {

// `n - begin`, itself or in a variable; also of iterators.
bool Quantity::isRest(const Expr* e, bool direct) const {
  const auto subtracts = [](const Expr* s) {
    s = strip(s);
    while (const auto* cast = dyn_cast<ExplicitCastExpr>(s)) s = strip(cast->getSubExpr());
    const auto* b = dyn_cast<BinaryOperator>(s);
    if (b && b->getOpcode() == BO_Div) b = dyn_cast<BinaryOperator>(strip(b->getLHS()));  // (end - at) / columns
    const auto* o = dyn_cast<CXXOperatorCallExpr>(s);
    const bool distance = isa<CallExpr>(s) && calleeOf(s) && isSystemDecl(calleeOf(s)) && calleeName(s) == "distance";
    return (b && b->getOpcode() == BO_Sub) || (o && o->getOperator() == OO_Minus && o->getNumArgs() == 2) || distance;
  };
  const ValueDecl* d = direct ? nullptr : declOf(e);
  return subtracts(e) || (d && shrinks(d)) || (d && llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && subtracts(def.value); }));
}

// memory.size(), rows.size(0), whatever it is cast to.
static bool countsHeld(const Expr* e) {
  e = strip(e);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  return isa<CXXMemberCallExpr>(e) && calleeOf(e) && isSystemDecl(calleeOf(e)) && calleeName(e) == "size";
}

// std::min(size, n - begin), begin + size > n ? n - begin : size: the size of all batches but the last. Null when it is not clear which of the two
// that is.
const Expr* Quantity::unclipped(const Expr* e) const {
  llvm::SmallVector<const Expr*, 4> either;
  const FunctionDecl* f = isa<CallExpr>(e) ? calleeOf(e) : nullptr;
  if (f && isSystemDecl(f) && f->getDeclName().isIdentifier() && f->getName() == "min") either = argumentsOf(e);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) either = {c->getTrueExpr(), c->getFalseExpr()};
  if (either.size() != 2) return nullptr;
  for (const bool direct : {true, false})
    if (const bool first = isRest(either[0], direct); first != isRest(either[1], direct)) return either[first ? 1 : 0];
  // std::min(size, memory.size()): no more than there are.
  if (const bool first = countsHeld(either[0]); first != countsHeld(either[1])) return either[first ? 1 : 0];
  return nullptr;
}

}  // namespace hvdize
