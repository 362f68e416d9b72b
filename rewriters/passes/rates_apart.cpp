// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/rates_apart.h"

using namespace clang;

namespace hvdize {

namespace {

using Variables = llvm::DenseSet<const ValueDecl*>;

// The numbers that `e` is made from, also by way of others: `rate * 0.1` is, while it is the product that would be scaled, made from `rate`. What an
// object has beside the field that is read does not count.
void addVariables(const Model& m, const Expr* e, Variables& into) {
  forEachExpr(e, [&](const Expr* x) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (!d || !d->getType().getNonReferenceType()->isArithmeticType() || !into.insert(d).second) return;
    for (const Definition& def : m.definitions.of(d))
      if (def.value && !def.compound) addVariables(m, def.value, into);
  });
}

bool meet(const Variables& a, const Variables& b) {
  return llvm::any_of(a, [&](const ValueDecl* d) { return b.contains(d); });
}

}  // namespace

bool isAsked(const std::string& suffix) { return llvm::StringRef(suffix).contains("rule_of("); }

std::vector<bool> sinksApart(const Model& m, llvm::ArrayRef<Sink> sinks, llvm::function_ref<Quantity()> rates) {
  std::vector<bool> apart(sinks.size());
  if (m.context.options.lrScaling != LrScaling::Auto) return apart;
  std::vector<Variables> through, from;
  for (unsigned i = 0; i < sinks.size(); ++i) {
    Quantity alone = rates();
    if (!isLiteralZero(sinks[i].rate)) alone.trace(sinks[i].rate, sinks[i].suffix);
    alone.settle();
    through.push_back(alone.scaled());
    from.push_back(through.back());
    addVariables(m, sinks[i].rate, from.back());
    apart[i] = isAsked(sinks[i].suffix);
  }
  const auto share = [&](unsigned i, unsigned j) { return meet(through[i], from[j]) || meet(through[j], from[i]); };
  for (bool more = true; more;) {
    more = false;
    for (unsigned i = 0; i < sinks.size(); ++i)
      for (unsigned j = 0; j < sinks.size(); ++j)
        if (i != j && !apart[i] && (apart[j] || sinks[i].suffix != sinks[j].suffix) && share(i, j)) apart[i] = more = true;
  }
  return apart;
}

bool isShareOfBase(const Model& m, const Quantity& q, const Expr* rate) {
  const Stmt* p = m.code.parent(rate);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = m.code.parent(p);
  const auto* quotient = dyn_cast_or_null<BinaryOperator>(p);
  if (!quotient || quotient->getOpcode() != BO_Div || !isWithin(m.code, rate, quotient->getLHS())) return false;
  const Expr* divisor = strip(quotient->getRHS());
  const ValueDecl* base = isa<DeclRefExpr, MemberExpr>(divisor) ? declOf(divisor) : nullptr;
  const ValueDecl* held = declOf(strip(rate));
  if (!base || !held || base == held) return false;
  const auto names = [&](const Expr* tree, const ValueDecl* d) {
    bool found = false;
    forEachExpr(tree, [&](const Expr* x) { found = found || (isa<DeclRefExpr, MemberExpr>(x) && declOf(x) == d); });
    return found;
  };
  const auto isScaledIn = [&](const Expr* tree) { return llvm::any_of(q.places(), [&](const Expr* place) { return isWithin(m.code, place, tree); }); };
  const bool scaled = llvm::any_of(q.places(), [&](const Expr* place) { return declOf(strip(place)) == base; }) ||
                      llvm::any_of(m.definitions.of(base), [&](const Definition& def) { return def.value && isScaledIn(def.value); });
  return !scaled && llvm::any_of(m.definitions.of(held), [&](const Definition& def) { return def.value && names(def.value, base); });
}

}  // namespace hvdize
