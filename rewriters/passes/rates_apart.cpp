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

}  // namespace hvdize
