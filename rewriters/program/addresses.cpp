// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/addresses.h"

using namespace clang;

namespace hvdize {

bool isAddress(const Expr* e) {
  while (isa<ParenExpr, CastExpr>(e)) {
    const auto* c = dyn_cast<CastExpr>(e);
    if (c && c->getCastKind() == CK_PointerToIntegral) return true;
    e = c ? c->getSubExpr() : cast<ParenExpr>(e)->getSubExpr();
  }
  return false;
}

// The one pointer in a number that is made from it, of sums and masks, and of literals. A multiple or a remainder may be a place among others.
static const Expr* pointerIn(const Expr* e) {
  while (isa<ParenExpr, CastExpr>(e)) {
    const auto* c = dyn_cast<CastExpr>(e);
    if (c && c->getCastKind() == CK_PointerToIntegral) return c->getSubExpr();
    e = c ? c->getSubExpr() : cast<ParenExpr>(e)->getSubExpr();
  }
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (!b || !(b->getOpcode() == BO_Add || b->getOpcode() == BO_And)) return nullptr;
  const auto literal = [](const Expr* x) {
    const Expr* plain = x->IgnoreParenCasts();
    const auto* turned = dyn_cast<UnaryOperator>(plain);
    return isa<IntegerLiteral>(turned && turned->getOpcode() == UO_Not ? turned->getSubExpr()->IgnoreParenCasts() : plain);
  };
  return literal(b->getRHS()) ? pointerIn(b->getLHS()) : nullptr;
}

const Expr* alignedByHand(const Expr* e) {
  for (; isa<ParenExpr, CastExpr>(e); e = isa<CastExpr>(e) ? cast<CastExpr>(e)->getSubExpr() : cast<ParenExpr>(e)->getSubExpr()) {
    const auto* c = dyn_cast<CastExpr>(e);
    if (!c || c->getCastKind() != CK_IntegralToPointer) continue;
    // The mask clears the lowest bits: what is left lies behind the pointer, by no more than what was added.
    const auto* mask = dyn_cast<BinaryOperator>(c->getSubExpr()->IgnoreParenCasts());
    const bool clears = mask && mask->getOpcode() == BO_And && isa<UnaryOperator>(mask->getRHS()->IgnoreParenCasts());
    return clears ? pointerIn(mask) : nullptr;
  }
  return nullptr;
}

}  // namespace hvdize
