// SPDX-License-Identifier: Apache-2.0
// A position that the program moves on by the size of its batch, where that is a literal: `x.slice(0, at, at + 8)` or `x.narrow(0, at, 8)`, and later
// `at = (at + 8) % n`, or in front `at + 8 <= n`.
#include "llvm/ADT/MapVector.h"

#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

struct Sum {
  const ValueDecl* position;
  const IntegerLiteral* step;
};

// `at + 8`, `8 + at`, `at += 8`.
std::optional<Sum> sumIn(const Expr* e) {
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (!b || (b->getOpcode() != BO_Add && b->getOpcode() != BO_AddAssign)) return std::nullopt;
  for (const auto& [one, other] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())}) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(strip(one)) ? declOf(one) : nullptr;
    const auto* i = dyn_cast<IntegerLiteral>(strip(other));
    if (d && i && i->getValue().ugt(1) && d->getType().getNonReferenceType()->isIntegerType()) return Sum{d, i};
  }
  return std::nullopt;
}

// The number among the places in what says how many rows there are: 8, or std::min(8, n - at).
const Expr* sizeOf(const Expr* rows, const llvm::DenseSet<const Expr*>& places) {
  const Expr* size = nullptr;
  if (rows) forEachExpr(rows, [&](const Expr* e) { size = places.contains(strip(e)) ? strip(e) : size; });
  return size;
}

}  // namespace

void Model::traceCursors(Quantity& q) const {
  llvm::DenseSet<const Expr*> places;
  for (const Expr* p : q.places()) places.insert(strip(p));
  std::vector<std::pair<Sum, bool>> sums;  // and whether it is a size that was found
  for (const Root& r : code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      if (const auto sum = sumIn(e)) sums.push_back({*sum, places.contains(sum->step)});
    });
  // `x.narrow(0, at, 8)` names the two apart.
  for (const Expr* s : batches.shards()) {
    const auto* size = dyn_cast_or_null<IntegerLiteral>(sizeOf(rowsOf(s), places));
    if (!size || size->getValue().ult(2)) continue;
    forEachExpr(s, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) && e->getType()->isIntegerType() ? declOf(e) : nullptr;
      if (d && isa<VarDecl, FieldDecl>(d)) sums.push_back({Sum{d, size}, true});
    });
  }
  // The position itself, or a variable that holds it for one step.
  const auto positions = [&](const ValueDecl* d) {
    llvm::SmallVector<const ValueDecl*, 2> out = {d};
    const auto given = isa<VarDecl>(d) ? definitions.of(d) : llvm::ArrayRef<Definition>();
    if (given.size() == 1 && given[0].value && !given[0].compound && declOf(given[0].value)) out.push_back(declOf(given[0].value));
    return out;
  };
  for (const auto& [from, known] : sums) {
    if (!known) continue;
    for (const ValueDecl* at : positions(from.position))
      for (const auto& [sum, same] : sums)
        if (!same && sum.position == at && sum.step->getValue().getZExtValue() == from.step->getValue().getZExtValue()) q.trace(sum.step);
  }
}

}  // namespace hvdize
